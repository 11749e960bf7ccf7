# The hub in all roles, on the current LTS version of Node. Stage one makes the npm package; stage two installs it.

FROM node:24-bookworm-slim AS build
WORKDIR /flotilla
COPY . .
# Installs from the lock file (npm ci), generates code, compiles, and packs what runs.
RUN node scripts/package.mjs /packages

FROM node:24-bookworm-slim
ENV NODE_ENV=production
# Loopback would be reachable only inside the container. The published ports decide who reaches the hub.
ENV FLOTILLA_HOST=0.0.0.0
ENV FLOTILLA_DATA_DIR=/data
COPY --from=build /packages/flotilla-hub-*.tgz /tmp/package/
RUN npm install --global --no-fund --no-audit /tmp/package/flotilla-hub-*.tgz && rm -r /tmp/package
RUN mkdir --mode=0700 /data && chown node:node /data
WORKDIR /data
USER node
VOLUME /data
EXPOSE 8080 1883 8883 8884/udp
# Uses HTTPS if the hub has a certificate.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["flotilla-hub", "health-check"]
# docker stop drains the hub, and kills it after 10 s: use docker stop --time 90.
STOPSIGNAL SIGTERM
CMD ["flotilla-hub"]
