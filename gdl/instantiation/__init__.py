"""Instantiation: from a program with variables to its ground rules, bottom-up.

What the grounders of answer-set programming do (M. Gebser, T. Schaub, S. Thiele, "GrinGo: A New
Grounder for Answer Set Programming", 2007), in compiled code over numbers: terms are interned
(`terms`), the atoms of a relation are rows that are looked up by columns (`views`), rules are joins
in an order fixed beforehand (`plans`, `joins`), relations are completed one component after the
other, semi-naively where they depend on themselves (`engine`).  All of it lives in one block of
memory with a limit (`memory`) and can be interrupted at any row.
"""
