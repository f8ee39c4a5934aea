# The agent server in a container: docker build -t ggp-agent . && docker run -p 9147:9147 ggp-agent
FROM python:3.13-slim

RUN apt-get update \
 && apt-get install -y --no-install-recommends swi-prolog-nox \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home agent

COPY pyproject.toml README.md LICENSE /src/
COPY forward_model /src/forward_model
COPY gdl /src/gdl
COPY propnet /src/propnet
COPY games /src/games
COPY ggp_agent /src/ggp_agent
RUN pip install --no-cache-dir /src && rm -r /src

# Kernels are compiled now, by the user who will run them, not at the first START.
USER agent
WORKDIR /home/agent
RUN ggp-agent warm

EXPOSE 9147
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s CMD ["ggp-agent", "info"]
# SIGTERM ends matches and workers in order.
STOPSIGNAL SIGTERM
ENTRYPOINT ["ggp-agent"]
CMD ["serve"]
