# Everything in one small image: docker build -t claimeven . && docker run -p 8080:8080 -v claimeven:/data claimeven
FROM node:22.20.0-bookworm-slim AS node

FROM rust:1.95.0-bookworm AS build
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s /usr/local/lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package claimeven

FROM debian:12.12-slim
RUN useradd --system --uid 10001 claimeven && install -d -o claimeven /data
COPY --from=build /source/target/release/claimeven /usr/local/bin/claimeven
USER claimeven
VOLUME /data
EXPOSE 8080
ENV CLAIMEVEN_ADDR=0.0.0.0:8080 CLAIMEVEN_DATABASE=sqlite:/data/games.sqlite
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["claimeven", "doctor", "--ready"]
ENTRYPOINT ["claimeven"]
CMD ["serve", "--log-format", "json"]
