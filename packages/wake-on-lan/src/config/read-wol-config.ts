/** Reads a WolConfig object: what it allows and its agents, or all its problems. */
import {
  explainIssue,
  HOLD_WAKE_AGENT_UPGRADE_ANNOTATION,
  WOL_API_VERSION,
  type WolConfigAgent,
  type WolConfigSpec,
  wolConfig,
} from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { WakeUpPolicy } from '../machine/plan-wake-up.js';
import { type WakeConfig, wakeConfigProblems } from '../machine/wake-config.js';
import { type AgentPlacement, DEFAULT_TOLERATIONS } from './agent-placement.js';
import { agentSpecProblems } from './agent-spec-problems.js';
import { selectorProblems } from './selector-problems.js';
import type { WolConfigProblem } from './wol-config-problem.js';

/** The agent settings of a WolConfig, with all defaults filled in. */
export interface WakeAgentSpec extends AgentPlacement {
  /** Patterns; empty for every interface with a network outside the node. */
  readonly interfaces: readonly string[];
  readonly isPromiscuous: boolean;
  /** Frames with EtherType 0x0842 are received. */
  readonly hasFrames: boolean;
  /** The location of the SecureOn password. */
  readonly passwordSecret: { readonly name: string; readonly key: string } | undefined;
  /** The fields of the WolConfig that the DaemonSet copies. */
  readonly pod: Pick<WolConfigAgent, 'image' | 'imagePullPolicy' | 'resources' | 'updateStrategy' | 'priorityClassName'>;
  /** True if the agents keep the image that they run. */
  readonly holdsImage: boolean;
}

/** A WolConfig without problems. */
export interface ReadWolConfig {
  readonly name: string;
  /** Includes its kind. */
  readonly object: KubernetesObject;
  readonly allows: WakeConfig;
  readonly policy: WakeUpPolicy;
  /** UDP ports, each once, in the order of the specification. */
  readonly ports: readonly number[];
  readonly agent: WakeAgentSpec;
  /** Descriptions of mappings that allow nothing; the others do. */
  readonly ignoredMappings: readonly string[];
}

/** A WolConfig that can be used, or everything that is wrong with the object. */
export type WolConfigReading =
  | { readonly ok: true; readonly config: ReadWolConfig }
  /** The WolConfig is not used at all. */
  | {
      readonly ok: false;
      readonly name: string;
      readonly object: KubernetesObject;
      readonly problems: readonly WolConfigProblem[];
    };

/** Reads any object. Never throws. */
export function readWolConfig(given: KubernetesObject): WolConfigReading {
  const object = { ...given, apiVersion: WOL_API_VERSION, kind: 'WolConfig' };
  const { name } = object.metadata;
  const root = { spec: object.spec ?? {} };
  const parsed = wolConfig.pick({ spec: true }).safeParse(root);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => {
      const { message, remedy } = explainIssue(issue, root);
      const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
      return { path, message, remedy };
    });
    return { ok: false, name, object, problems };
  }
  const spec = parsed.data.spec ?? wolConfig.shape.spec.unwrap().parse({});
  const allows = toWakeConfig(name, spec);
  const mappings = spec.discoveryMode === 'Explicit' ? wakeConfigProblems(allows) : [];
  const problems = [...modeProblems(spec), ...portProblems(spec), ...agentSpecProblems(spec.agent)];
  if (problems.length > 0) return { ok: false, name, object, problems };
  const { unpause = false, wolPorts } = spec;
  const policy = { unpauses: unpause };
  const agent = toAgent(spec, object);
  return { ok: true, config: { name, object, allows, policy, ports: [...new Set(wolPorts)], agent, ignoredMappings: mappings } };
}

function toWakeConfig(name: string, spec: WolConfigSpec): WakeConfig {
  const { discoveryMode: mode, namespaceSelectors: namespaces = [], vmSelector = {}, explicitMappings = [] } = spec;
  const { passwordSecret } = spec;
  const common = { name, namespaces, ...(passwordSecret && { passwordSecret: nameOfPassword(passwordSecret) }) };
  switch (mode) {
    case 'All':
      return { ...common, mode };
    case 'LabelSelector':
      return { ...common, mode, selector: definedFields(vmSelector) };
    case 'Explicit': {
      const mappings = explicitMappings.map(({ vmName, ...mapping }) => ({ ...mapping, name: vmName }));
      return { ...common, mode, mappings };
    }
  }
}

/** `SECRET/KEY`, by which agents name the password that they check. */
export function nameOfPassword({ name, key }: NonNullable<WakeAgentSpec['passwordSecret']>): string {
  return `${name}/${key}`;
}

function modeProblems({ discoveryMode, vmSelector, explicitMappings = [] }: WolConfigSpec): readonly WolConfigProblem[] {
  if (discoveryMode === 'Explicit' && explicitMappings.length === 0)
    return [
      {
        path: ['spec', 'explicitMappings'],
        message: 'ExplicitMappings is required for discoveryMode Explicit',
        remedy: 'list the virtual machines',
      },
    ];
  if (discoveryMode !== 'LabelSelector') return [];
  if (vmSelector === undefined)
    return [
      {
        path: ['spec', 'vmSelector'],
        message: 'VMSelector is required for discoveryMode LabelSelector',
        remedy: 'write the labels of the virtual machines',
      },
    ];
  return selectorProblems(vmSelector);
}

function portProblems({ wolPorts }: WolConfigSpec): readonly WolConfigProblem[] {
  return wolPorts.flatMap((port, index) =>
    port >= 1 && port <= 65_535
      ? []
      : [{ path: ['spec', 'wolPorts', index], message: `invalid WOL port ${port}`, remedy: 'write a number from 1 to 65535' }],
  );
}

function toAgent({ agent, passwordSecret }: WolConfigSpec, { metadata }: KubernetesObject): WakeAgentSpec {
  const { nodeSelector = {}, tolerations = [], interfaces = [], promiscuous = false, frames = true, ...pod } = agent ?? {};
  return {
    nodeSelector,
    tolerations: tolerations.length === 0 ? DEFAULT_TOLERATIONS : tolerations,
    interfaces,
    isPromiscuous: promiscuous,
    hasFrames: frames,
    passwordSecret,
    pod: { imagePullPolicy: 'IfNotPresent', ...pod },
    holdsImage: metadata.annotations?.[HOLD_WAKE_AGENT_UPGRADE_ANNOTATION] !== undefined,
  };
}

/** Removes fields that are undefined, which exact optional types do not allow. */
function definedFields<Value>(value: Value): never {
  return (isRecord(value) ? JSON.parse(JSON.stringify(value)) : value) as never;
}
