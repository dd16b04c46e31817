// npm run bench: lists the benches. npm run bench -- NAME [OPTIONS] runs one.
import { findNamespaces, runInNamespaces } from '../in-namespaces.mjs';

/** What each measures, and its program in tools/bench, or one for each part. */
const BENCHES = {
  packets: { what: 'the agent beside the DHCP servers that are installed, and its memory', program: 'dist/packets.js' },
  allocator: { what: 'the pure library: decisions, the codec, allocation, leases', program: 'scripts/allocator.mjs' },
  storm: { what: 'ten thousand machines that are switched on at once, beside other servers', program: 'dist/storm.js' },
  leases: { what: 'leases of unknown clients, recorded on the disk', program: 'dist/leases.js' },
  control: { what: 'new virtual machines, in large pools and in many; what reaches the wire', program: 'dist/control.js' },
  agents: { what: 'what clients notice when agents die, are upgraded, or have no API server', program: 'dist/agents.js' },
  webhook: { what: 'decisions of the webhook over TLS, 500 a second', program: 'dist/webhook.js' },
  'wake-on-lan': {
    what: 'magic packets, a flood of them at an agent, ten nodes that hear one packet',
    parts: { packets: 'scripts/wake-on-lan.mjs', agent: 'dist/wake-agent.js', cluster: 'dist/wake-cluster.js' },
  },
  hosts: { what: '1,000 bare-metal hosts: objects, polls, hosts that hang', program: 'dist/hosts.js' },
};
const HELP = `Usage: npm run bench -- NAME [options]

${Object.entries(BENCHES)
  .map(
    ([name, { what, parts }]) =>
      `  ${name.padEnd(14)}${what}${parts === undefined ? '' : ` (--only ${Object.keys(parts).join(', ')})`}\n`,
  )
  .join('')}
Most have options: npm run bench -- packets --help

Rows of one run can be compared, rows of two runs cannot. docs/performance.md has what was measured.
`;

const [name, ...options] = process.argv.slice(2);
if (name === undefined || name === '--help') {
  process.stdout.write(HELP);
  process.exit(0);
}
const programs = programsOf(BENCHES[name]);
if (programs.length === 0) fail(HELP, 64);
const { way, reason } = findNamespaces();
if (way === undefined) fail(`the bench cannot run: ${reason}\n`, 69);
for (const program of programs) {
  const { status } = runInNamespaces(way, process.execPath, ['--expose-gc', `tools/bench/${program}`, ...options]);
  if (status !== 0) process.exit(status ?? 130);
}

/** All parts, one after the other; `--only PART` takes one of them. */
function programsOf({ program, parts = {} } = {}) {
  if (program !== undefined) return [program];
  const at = options.indexOf('--only');
  if (at < 0) return Object.values(parts);
  const [, part] = options.splice(at, 2);
  return part in parts ? [parts[part]] : [];
}

function fail(text, code) {
  process.stderr.write(text);
  process.exit(code);
}
