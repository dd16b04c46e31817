import type { OfferedRoute, ServerAnswer } from '@vmdhcp/dhcp-agent/packet-path';

/** One line for a person with what the server sent, and nothing else. */
export function describeServerAnswer(answer: ServerAnswer): string {
  const details = [
    answer.leaseTimeSeconds === undefined ? '' : `lease ${answer.leaseTimeSeconds} s`,
    answer.subnetMask === undefined ? '' : `mask ${answer.subnetMask}`,
    list('router', answer.routers),
    list('dns', answer.dnsServers),
    answer.domainName === undefined ? '' : `domain "${answer.domainName}"`,
    list(
      'search',
      answer.domainSearch.map((name) => `"${name}"`),
    ),
    list('ntp', answer.ntpServers),
    list('routes', answer.classlessRoutes.map(describeRoute)),
    list('static routes', answer.staticRoutes.map(describeRoute)),
    answer.mtu === undefined ? '' : `mtu ${answer.mtu}`,
  ].filter((detail) => detail !== '');
  const subject = answer.type === 'nak' ? 'NAK' : `${answer.type.toUpperCase()} ${answer.address}`;
  return `${subject} from ${answer.server} (${answer.serverMacAddress}) after ${answer.tookMs} ms${details.length === 0 ? '' : `: ${details.join(', ')}`}\n`;
}

function list(name: string, values: readonly string[]): string {
  return values.length === 0 ? '' : `${name} ${values.join(' ')}`;
}

function describeRoute({ destination, gateway }: OfferedRoute): string {
  return `${destination} via ${gateway}`;
}
