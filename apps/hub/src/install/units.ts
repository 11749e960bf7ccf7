/** The services for systemd: the hub, and a backup every night. [docs/server.md] */

export interface Installation {
  /** The program of Node. */
  readonly node: string;
  /** The folder with the compiled hub. */
  readonly program: string;
  readonly user: string;
  readonly settingsDir: string;
  readonly dataDir: string;
  readonly backupDir: string;
}

/** Limits what the service may do. Node compiles code while it runs: no MemoryDenyWriteExecute. */
const HARDENING = `NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=true
PrivateTmp=true
PrivateDevices=true
ProtectClock=true
ProtectControlGroups=true
ProtectHostname=true
ProtectKernelLogs=true
ProtectKernelModules=true
ProtectKernelTunables=true
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
LockPersonality=true
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
UMask=0077`;

export function hubService({ node, program, user, settingsDir, dataDir }: Installation): string {
  return `[Unit]
Description=Flotilla, a hub for device fleets
Wants=network-online.target
After=network-online.target

[Service]
User=${user}
Group=${user}
WorkingDirectory=${dataDir}
EnvironmentFile=${settingsDir}/hub.env
ExecStart=${node} --max-semi-space-size=64 ${program}/main.js
Restart=on-failure
RestartSec=5s
# Exit code 2: a setting is wrong, and a restart does not help.
RestartPreventExitStatus=2
# Only the hub receives the signal. It stops PostgreSQL itself, as its last step.
KillMode=mixed
TimeoutStopSec=90s
LimitNOFILE=65536
# Ports below 1024. Remove both lines if the hub uses none.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
ReadWritePaths=${dataDir}
${HARDENING}

[Install]
WantedBy=multi-user.target
`;
}

export function backupService({ node, program, user, settingsDir, dataDir, backupDir }: Installation): string {
  return `[Unit]
Description=Backup of Flotilla

[Service]
Type=oneshot
User=${user}
Group=${user}
WorkingDirectory=${dataDir}
EnvironmentFile=${settingsDir}/hub.env
EnvironmentFile=-${settingsDir}/backup.env
ExecStart=/bin/sh -c 'exec ${node} ${program}/backup.js ${backupDir}/hub-$$(date +%%F).tar.gz'
ExecStartPost=/usr/bin/find ${backupDir} -name 'hub-*.tar.gz*' -mtime +14 -delete
ReadWritePaths=${dataDir} ${backupDir}
${HARDENING}
`;
}

export const backupTimer = `[Unit]
Description=Backup of Flotilla, every night

[Timer]
OnCalendar=*-*-* 03:15:00
RandomizedDelaySec=15min
Persistent=true

[Install]
WantedBy=timers.target
`;

/** The first settings. Operators edit this file, so an existing one is never replaced. */
export function firstSettings({ dataDir }: Installation): string {
  return `# Settings of the hub; .env.example of the package and docs/operations.md explain all.
# Start the service again after a change, and check it with: flotilla-hub doctor
FLOTILLA_DATA_DIR=${dataDir}

# The address of all listeners. Use 0.0.0.0 when devices on other machines connect.
FLOTILLA_HOST=127.0.0.1

# Where devices and people reach the hub:
# FLOTILLA_PUBLIC_URL=https://hub.example.net
# FLOTILLA_PUBLIC_MQTT=hub.example.net:8883
# FLOTILLA_PUBLIC_HOST=hub.example.net
# FLOTILLA_TLS_CERT=/etc/flotilla/fullchain.pem
# FLOTILLA_TLS_KEY=/etc/flotilla/key.pem
# FLOTILLA_MQTT_PORT=off
`;
}
