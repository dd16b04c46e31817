const POOLS = '/etc/vmdhcp-agent/pools.yaml';
const CAPABILITIES = 'CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_NET_ADMIN';

/** The service of systemd: it may bind ports, send frames and change addresses, write its state, and nothing else of the host. */
export const SERVICE_UNIT = `[Unit]
Description=DHCP server for virtual machines and bare-metal hosts
Documentation=man:vmdhcp-agent(1)
Wants=network-online.target
After=network-online.target
ConditionPathExists=${POOLS}
# A port that is in use, or a full disk, may be free again at any time.
StartLimitIntervalSec=0

[Service]
EnvironmentFile=/etc/default/vmdhcp-agent
# Lists every problem in the log. What can be served is served nevertheless, as after a reboot: serve itself refuses a file that is wrong.
ExecStartPre=-/usr/bin/vmdhcp-agent check ${POOLS}
ExecStart=/usr/bin/vmdhcp-agent serve --pools ${POOLS} --configure-interfaces $INTERFACES $OPTIONS
# The agent watches the file and takes changes by itself; a reload tells whether it can.
ExecReload=/usr/bin/vmdhcp-agent check ${POOLS}
Restart=on-failure
RestartSec=2
# Wrong usage and wrong files do not mend themselves.
RestartPreventExitStatus=64 65 66 78
StateDirectory=vmdhcp-agent
DynamicUser=yes
AmbientCapabilities=${CAPABILITIES}
CapabilityBoundingSet=${CAPABILITIES}
NoNewPrivileges=yes
LockPersonality=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET
RestrictNamespaces=yes
RestrictRealtime=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
UMask=0077

[Install]
WantedBy=multi-user.target
`;

/** Settings of the service, which an upgrade leaves as they are. */
export const SERVICE_SETTINGS = `# Settings of vmdhcp-agent.service. The pools are in ${POOLS}: /usr/share/doc/vmdhcp-agent/examples has one.

# Which pool is on which interface, once for each pool: --interface POOL=INTERFACE
INTERFACES="--interface blue=eth1 --interface green=eth2"

# Further options: vmdhcp-agent serve --help
OPTIONS=""
`;
