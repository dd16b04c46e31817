export { findAddressFaults, findLackingAddresses, type KnownAddresses } from './address-faults.js';
export { AdmissionWebhook, WEBHOOK_NAME, WEBHOOK_NAMESPACE } from './admission-webhook.js';
export { type AgentSettings, LabAgent, runAgent, type ShownLease } from './agent.js';
export { BAD_PACKETS, type BadPacket } from './bad-packets.js';
export { installedByOlm, keptByOlm } from './bundle-installation.js';
export { ClientFleet, type FleetAnswer, type Question } from './client-fleet.js';
export {
  acquire,
  type ClientEvent,
  type ClientName,
  dhclientFiles,
  endDhclient,
  type RunningClient,
  start as startClient,
} from './clients.js';
export { clockOffset } from './clock-offset.js';
export { clockSpeed } from './clock-speed.js';
export { ClusterAccess, readYaml } from './cluster-access.js';
export { CLUSTER_EXAMPLES } from './cluster-examples.js';
export { admitOnOpenShift, restrictionPoints } from './constraints.js';
export { drawPicture, isDrawing } from './dashboard-picture.js';
export { waitFor } from './deadline.js';
export { FiringAlerts } from './firing-alerts.js';
export { freePort } from './free-port.js';
export { importedScript } from './imported-script.js';
export {
  CONTROLLER_NAMESPACE,
  installedFor,
  installedForBareMetal,
  installedForPage,
  installedForWakeOnLan,
  installedWith,
  MANIFESTS,
  unifiedAgents,
} from './installed-objects.js';
export { type InstalledPlace, type InstalledPod, InstalledProgram } from './installed-program.js';
export { hasDryRun, type KubectlAccess, type KubectlOutput, runKubectl } from './kubectl.js';
export { KubectlPlugin } from './kubectl-plugin.js';
export {
  type BlockingPoint,
  KubeVirt,
  type KubeVirtSettings,
  type RefusedRequests,
  type SubresourceRequest,
} from './kubevirt/kubevirt.js';
export { LAB_VARIABLE, Lab, Machine, run } from './lab.js';
export {
  AGENT_NAMESPACE,
  API_HOST,
  LabCluster,
  type LabClusterSettings,
  type LabController,
  MANAGEMENT_NETWORK,
} from './lab-cluster.js';
export type { LabNode } from './lab-node.js';
export { type ContainerOfPod, type LabPod, type StartContainer, startInPod } from './lab-pod.js';
export { LabProcess } from './lab-process.js';
export { ownControllerDeployment } from './migration-objects.js';
export { type IpPoolSettings, ipPool, networkAttachment } from './network-and-pool.js';
export { hasNetworkManager, startNetworkManager } from './network-manager.js';
export { startNetworkd } from './networkd.js';
export type { NodePod } from './node-pod.js';
export { openProbe } from './open-probe.js';
export { OperatedCluster } from './operated-cluster.js';
export { type CapturedMessage, PacketCapture } from './packet-capture.js';
export { podVariables } from './pod-variables.js';
export { type MachineText, type PoolText, poolsYaml } from './pools-yaml.js';
export { PrivateCluster } from './private-cluster.js';
export { ProgramPod } from './program-pod.js';
export { AGENT_BIN, CONTROLLER_BIN, PLUGIN_BIN, SIMULATOR_BIN } from './programs.js';
export { type FiringAlert, Prometheus, type QueriedSeries } from './prometheus.js';
export { type Reach, reach } from './reach.js';
export { has, isInstalled, NETWORKD, needs, REAL_PROGRAMS, type RealProgram, SYSTEM_PATH } from './real-program.js';
export { Bmc, type BmcBehaviour, type BmcLogLine } from './redfish/bmc.js';
export { BmcFleet, type BmcFleetSettings, type ListeningBmc } from './redfish/bmc-fleet.js';
export { type BmcsInMachine, type BmcsInMachineSettings, startBmcs } from './redfish/start-bmcs.js';
export { releaseLease } from './release-lease.js';
export { ReportingAgent } from './reporting-agent.js';
export {
  type Account,
  compareRights,
  covers,
  describeRight,
  type Right,
  type RightsInUse,
  rightsIn,
  rightsOf,
} from './rights.js';
export { advertiseRouter } from './router-advertisement.js';
export { serviceAccountToken } from './service-account-token.js';
export { startBrowser } from './status-page/browser.js';
export { examplePage, HOSTILE_NAME, LARGE_POOL } from './status-page/example-page.js';
export { grantAll, type MemoryLease, MemoryPage } from './status-page/memory-page.js';
export {
  openPicture,
  PAGE_PICTURES,
  type PagePicture,
  PICTURE_WORDS,
  picturedPage,
  wordsOf,
} from './status-page/page-pictures.js';
export { TestCluster } from './test-cluster.js';
export { TEST_CLUSTER_VARIABLE, TestServer, type TestServerSettings } from './test-server.js';
export { type ContainerSettings, UNPRIVILEGED, UnpackedImage } from './unpacked-image.js';
export { applyUpstreamDefinitions, UpstreamController } from './upstream-controller.js';
export {
  addOnDefinition,
  poolOfUpstreamPod,
  UPSTREAM_NAME,
  UPSTREAM_NAMESPACE,
  upstreamAddOn,
  upstreamAgentPod,
  upstreamChart,
  upstreamRegistration,
} from './upstream-objects.js';
export { type MachineInterface, virtualMachine, virtualMachineWith } from './virtual-machine.js';
export { startVlanLab, type VlanLab } from './vlan-lab.js';
export { type MachineToWake, type WakeManager, WakeManagers, type WakeReporter } from './wake-managers.js';
export { AGENT_SITUATIONS, UNIFIED_SITUATIONS } from './why/agent-situations.js';
export { HostCluster } from './why/host-cluster.js';
export { addHostNetworks, addInvalidNetwork, HOST_SITUATIONS, type HostSituation } from './why/host-situations.js';
export { MACHINE_SITUATIONS, refuseInstances, UNCONTROLLED_SITUATIONS } from './why/machine-situations.js';
export { addCommonPools, POOL_SITUATIONS } from './why/pool-situations.js';
export type { Situation } from './why/situation.js';
export { WhyCluster } from './why/why-cluster.js';
