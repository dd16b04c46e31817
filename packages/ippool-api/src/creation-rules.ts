/**
 * The CEL rules of a new IPPool, with which the API server refuses wrong pools where no webhook runs. They find the same problems as `validatePool`,
 * as far as CEL can express them within its budget of 10,000,000 for each rule.
 *
 * They apply until the controller has written a status. An IPPool of an earlier version may break them, but its finalizers and status must stay
 * writable: API servers before 1.30 check all rules on every write, including writes of the status.
 */
import { ADDRESSES_ARE_THERE, SUBNET_SIZES, toNumber } from './range-rules.js';

interface CreationRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath: string;
}

const CONFIG = 'self.spec.ipv4Config';
const EXEMPT = `has(self.status) || !has(${CONFIG}) || !(${ADDRESSES_ARE_THERE.replaceAll('self.', `${CONFIG}.`)})`;
const SIZE = `${SUBNET_SIZES}[int(${CONFIG}.cidr.split('/')[1])]`;
/** The API server knows a bound for the parts of a split text, but not for parts of parts. */
const NETWORK = toNumber(`${CONFIG}.cidr.replace('/', '.')`);

export function creationRules(): { readonly 'x-kubernetes-validations': CreationRule[] } {
  const [start, end] = [toNumber(`${CONFIG}.pool.start`), toNumber(`${CONFIG}.pool.end`)];
  return {
    'x-kubernetes-validations': [
      {
        rule: `${EXEMPT} || ${start} <= ${end}`,
        message: 'The range ends before its start: swap start and end',
        fieldPath: '.spec.ipv4Config.pool.end',
      },
      isHost('pool.start', 'Start'),
      isHost('pool.end', 'End'),
      isHost('serverIP', 'ServerIP'),
      isHost('router', 'Router', `!has(${CONFIG}.router) || `),
      {
        rule: `${EXEMPT} || !has(${CONFIG}.router) || ${CONFIG}.router != ${CONFIG}.serverIP`,
        message: 'ServerIP is the address of the router too: give the DHCP server an address of its own',
        fieldPath: '.spec.ipv4Config.serverIP',
      },
    ],
  };
}

/** In a /31 and a /32 every address is a host's. Source: RFC 3021 §2.1. */
function isHost(field: string, name: string, unless = ''): CreationRule {
  const address = toNumber(`${CONFIG}.${field}`);
  const isInside = `${address} / size == ${NETWORK} / size`;
  const isOfHost = `(size <= 2 || (${address} % size != 0 && ${address} % size != size - 1))`;
  return {
    rule: `${EXEMPT} || ${unless}[${SIZE}].all(size, ${isInside} && ${isOfHost})`,
    message: `${name} is not the address of a host in the CIDR: choose one between its first address (the network) and its last one (the broadcast)`,
    fieldPath: `.spec.ipv4Config.${field}`,
  };
}
