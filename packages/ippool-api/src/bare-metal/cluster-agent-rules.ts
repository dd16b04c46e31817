/**
 * The CEL rules of a ClusterAgent. They refuse what the webhook of the predecessor refuses, and also what it accepts although no server could serve
 * it: the same problems that `clusterAgentProblems` of `@vmdhcp/bare-metal` finds.
 *
 * A stored object may break them, but its status and finalizers must stay writable: so they apply to an object without status, which is a new one,
 * and to every change of their field.
 */
import { SUBNET_SIZES, toNumber } from '../range-rules.js';
import { IPV4_ADDRESS, IPV4_CIDR } from '../text-formats.js';
import { BOTH_OR_NONE, bothOrNone } from './endpoint-fields.js';

interface ClusterAgentRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

const FEATURE = 'self.spec.feature';
const CONFIG = `${FEATURE}.dhcpServerConfig`;
/** DHCP is on unless it is switched off. */
const IS_OFF = `(has(${FEATURE}) && has(${FEATURE}.enableDhcpServer) && !${FEATURE}.enableDhcpServer)`;
const HAS_CONFIG = `(has(${FEATURE}) && has(${CONFIG}))`;
const HAS_SELF = `has(${CONFIG}.selfIp)`;

const bare = (pattern: RegExp) => pattern.source.slice(1, -1);
const matches = (field: string, pattern: string) => `${CONFIG}.${field}.matches('^${pattern.replaceAll('\\', '\\\\')}$')`;
const IPV4 = bare(IPV4_ADDRESS.pattern);
const FORMATS = {
  subnet: matches('subnet', bare(IPV4_CIDR.pattern)),
  ipRange: matches('ipRange', `${IPV4}-${IPV4}`),
  gateway: matches('gateway', IPV4),
  selfIp: `(!${HAS_SELF} || ${matches('selfIp', bare(IPV4_CIDR.pattern))})`,
};

/** Printable ASCII without `/` and `:`, and no dot first. */
const IS_INTERFACE = matches('dhcpServerInterface', '[!--0-9;-~][!-.0-9;-~]{0,14}');

const SIZE = `${SUBNET_SIZES}[int(${CONFIG}.subnet.split('/')[1])]`;
// The API server knows a bound for the parts of a split text, but not for parts of parts.
const NETWORK = toNumber(`${CONFIG}.subnet.replace('/', '.')`);
const SELF = toNumber(`${CONFIG}.selfIp.replace('/', '.')`);
const GATEWAY = toNumber(`${CONFIG}.gateway`);
const FIRST = toNumber(`${CONFIG}.ipRange.replace('-', '.')`);
const LAST = toNumber(`${CONFIG}.ipRange.replace('-', '.')`, 4);

const at = (field: string) => `.spec.feature.dhcpServerConfig.${field}`;
const isOutOfRange = (address: string) => `(${address} < ${FIRST} || ${address} > ${LAST})`;
/** In a /31 and a /32 every address is a host's. Source: RFC 3021 §2.1. */
const isHost = (address: string) =>
  `[${SIZE}].all(size, ${address} / size == ${NETWORK} / size && (size <= 2 || (${address} % size != 0 && ${address} % size != size - 1)))`;

/** Rules for well-formed texts: a malformed text breaks a rule of its own. */
function ofConfig(field: string, expression: string, message: string): ClusterAgentRule {
  const formats = Object.values(FORMATS).join(' && ');
  return { rule: `${IS_OFF} || !${HAS_CONFIG} || !(${formats}) || ${expression}`, message, fieldPath: at(field) };
}

function ofFormat(field: keyof typeof FORMATS, message: string): ClusterAgentRule {
  return { rule: `${IS_OFF} || !${HAS_CONFIG} || ${FORMATS[field]}`, message, fieldPath: at(field) };
}

const OF_FEATURE: readonly ClusterAgentRule[] = [
  {
    rule: `${IS_OFF} || ${HAS_CONFIG}`,
    message: 'DhcpServerConfig is missing: write it, or set enableDhcpServer to false',
    fieldPath: '.spec.feature',
  },
  {
    rule: `${IS_OFF} || !${HAS_CONFIG} || ${IS_INTERFACE}`,
    message:
      'DhcpServerInterface is not a name that an interface of Linux can have: write at most 15 characters, no space, "/" or ":", and no dot first',
    fieldPath: at('dhcpServerInterface'),
  },
  ofFormat('subnet', 'Subnet is not an IPv4 subnet: write address/prefix length, as in 192.168.0.0/24'),
  ofFormat('ipRange', 'IpRange is not a range of IPv4 addresses: write first and last, as in 192.168.0.10-192.168.0.100'),
  ofFormat('gateway', 'Gateway is not an IPv4 address: write four numbers of 0 to 255, as in 192.168.0.1'),
  ofFormat('selfIp', 'SelfIp is not an IPv4 address with a prefix length: write it as in 192.168.0.2/24'),
  ofConfig('ipRange', `${FIRST} <= ${LAST}`, 'IpRange ends before its start: swap the two addresses'),
  ofConfig('ipRange', `(${isHost(FIRST)} && ${isHost(LAST)})`, 'IpRange has addresses that no host in the subnet can have'),
  ofConfig('gateway', isHost(GATEWAY), 'Gateway is not the address of a host in the subnet'),
  ofConfig('gateway', isOutOfRange(GATEWAY), 'Gateway is in ipRange, so a client could get its address: shorten the range'),
  ofConfig(
    'selfIp',
    `!${HAS_SELF} || ${CONFIG}.selfIp.split('/')[1] == ${CONFIG}.subnet.split('/')[1]`,
    'SelfIp has another prefix length than the subnet: write that of the subnet',
  ),
  ofConfig('selfIp', `!${HAS_SELF} || ${isHost(SELF)}`, 'SelfIp is not the address of a host in the subnet'),
  ofConfig(
    'selfIp',
    `!${HAS_SELF} || ${isOutOfRange(SELF)}`,
    'SelfIp is in ipRange, so a client could get the address of the DHCP server: shorten the range',
  ),
  ofConfig(
    'selfIp',
    `!${HAS_SELF} || ${SELF} != ${GATEWAY}`,
    'SelfIp is the gateway: give the DHCP server an address of its own',
  ),
];

const OF_ENDPOINT: readonly ClusterAgentRule[] = [
  { rule: `!has(self.spec.endpoint) || ${bothOrNone('self.spec.endpoint')}`, message: BOTH_OR_NONE, fieldPath: '.spec.endpoint' },
];

const OF_AGENT: readonly ClusterAgentRule[] = [
  {
    rule: `has(self.spec.agentYaml.underlayInterface) && self.spec.agentYaml.underlayInterface != ''`,
    message: 'UnderlayInterface is missing: write the NetworkAttachmentDefinition of the management network',
    fieldPath: '.spec.agentYaml',
  },
];

/** The names of objects and pods begin with it. A name cannot change, so this applies to new objects only. */
const OF_NAME: ClusterAgentRule = {
  rule: `has(self.status) || self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')`,
  message: 'The name must have at most 63 lower-case letters, digits and hyphens, and begin and end with a letter or digit',
};

export function clusterAgentRules(): { readonly 'x-kubernetes-validations': ClusterAgentRule[] } {
  return {
    'x-kubernetes-validations': [
      OF_NAME,
      ...[...OF_AGENT, ...OF_ENDPOINT, ...OF_FEATURE].map((one) => ({ ...one, rule: `has(self.status) || ${one.rule}` })),
      ...OF_AGENT.map((one) => whenChanged('agentYaml', one)),
      ...OF_ENDPOINT.map((one) => whenChanged('endpoint', one)),
      ...OF_FEATURE.map((one) => whenChanged('feature', one)),
    ],
  };
}

/** The rule for new objects checks an object without status, so the same problem has one message. */
function whenChanged(field: string, { rule, ...others }: ClusterAgentRule): ClusterAgentRule {
  const [now, before] = [`self.spec.${field}`, `oldSelf.spec.${field}`];
  const isSame = `(has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before}))`;
  return { rule: `!has(self.status) || ${isSame} || ${rule}`, ...others };
}
