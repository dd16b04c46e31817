/** The first lines of `kubectl vmdhcp why`: one sentence for each interface. */
import { type AddressChain, firstTrouble, type InterfaceChain } from '@vmdhcp/explain';

/** One sentence for each interface, or for the virtual machine if the problem is there. */
export function verdicts({ namespace, name, links, interfaces }: AddressChain): string[] {
  const trouble = firstTrouble(links);
  const machine = `${namespace}/${name}`;
  if (interfaces.length === 0) {
    const reason = trouble?.findings.find(({ state }) => state === trouble.state)?.reason;
    return [reason === undefined ? `${machine}: no interface is known` : `${machine} has no address: ${reason}`];
  }
  return interfaces.map((one) => `${machine}, interface ${one.interface}: ${verdictOf(one)}`);
}

function verdictOf(one: InterfaceChain): string {
  const { address, links, network } = one;
  const trouble = firstTrouble(links);
  if (trouble === undefined) return verdictWithoutTrouble(one);
  const reason = trouble.findings.find(({ state }) => state === trouble.state)?.reason ?? trouble.link;
  if (address === undefined) return `has no address${network === '' ? '' : ` on network ${network}`}: ${reason}`;
  const what = trouble.state === 'broken' ? 'the way to it is broken' : 'something is in progress';
  return `${address} is assigned to it, but ${what}: ${reason}`;
}

function verdictWithoutTrouble({ address, links, network, state }: InterfaceChain): string {
  if (address !== undefined) return `has ${address} on network ${network}`;
  const isExternal = links.some(({ findings }) => findings.some(({ reason }) => reason === 'ExternalDHCP'));
  if (isExternal) return `another DHCP server serves network ${network}`;
  return state === 'unknown' ? 'not everything could be read' : 'no address is recorded';
}
