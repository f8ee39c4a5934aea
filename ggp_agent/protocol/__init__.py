"""The GDL protocol: messages, managers' dialects of HTTP, the gateway in front of aiohttp."""
