# SymChef beside Debian's interpreters: docs/containers.md.
#   make symchef && docker build -t symchef . && docker run --rm -v "$PWD":/project symchef doctor
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends python3 lua5.4 && rm -rf /var/lib/apt/lists/*
COPY symchef /usr/local/bin/symchef
# Whoever --user names has no home of its own.
ENV HOME=/tmp
WORKDIR /project
ENTRYPOINT ["symchef"]
