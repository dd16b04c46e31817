/**
 * The parts of a Linux process of a DHCP agent: its log, metrics, control socket, sockets and probes.
 *
 * @packageDocumentation
 */

export { type ReleaseAnswer, startAgentControl } from './control/agent-control.js';
export { askControl } from './control/ask-control.js';
export { hasPodControl, makePodControlFolder, podControlPath, podName, stateControlPath } from './control/control-path.js';
export { parseControlRequest } from './control/control-request.js';
export { describeKept, type KeptLease } from './control/describe-kept.js';
export { type ClientsDocument, formatClients } from './control/format-clients.js';
export { packetLine } from './control/packet-line.js';
export { leasesPage } from './http/leases-page.js';
export { createMetrics, type Metrics } from './http/metrics.js';
export { linuxDhcpSockets } from './linux/linux-dhcp-sockets.js';
export { linuxIpv6Sockets } from './linux/linux-ipv6-sockets.js';
export { arpProbe, probeServers } from './linux/linux-probes.js';
export { NeededAddresses } from './linux/needed-addresses.js';
export { AgentLog } from './log/agent-log.js';
export { LeaseEventLog } from './log/lease-event-log.js';
export { PacketLog } from './log/packet-log.js';
export { NtpNames } from './names/ntp-names.js';
export { type AgentDuties, AgentProcess, type AgentProcessSettings } from './process/agent-process.js';
