"""What runs in the server's process: matches under their clocks, and the supervision of workers."""
