/** `npm run demo -- --topology per-pool`. Runs inside namespaces of its own; nothing of the host is touched, and everything is gone at its end. */
import { Lab } from '@vmdhcp/lab';
import { AGENT_TOPOLOGIES, type AgentTopology } from '@vmdhcp/reconciler';
import { Command, Option } from 'commander';
import colors from 'picocolors';
import { addressStory } from './address-story.js';
import { bareMetalStory } from './bare-metal-story.js';
import { LiveView } from './live-view.js';
import type { Stage, Story } from './story.js';
import { wakeOnLanStory } from './wake-on-lan-story.js';

const EXAMPLES = `
Examples:
  npm run demo
  npm run demo -- --topology per-pool
  npm run demo -- --kubevirt
  npm run demo -- --wake-on-lan
  npm run demo -- --hosts
  npm run demo -- --topology unified --wake-on-lan    one after the other

Ctrl-C ends it at any time. It leaves nothing on this machine but what the first run installed and built, up to 1 GB here and in HOME:
  npm run demo -- --clean                             removes that
`;

const { topology, kubevirt, wakeOnLan, hosts } = new Command('npm run demo --')
  .description(
    'A cluster with two pools: virtual machines get addresses, an agent dies, another one serves, a wrong pool is refused.',
  )
  .addOption(new Option('--topology <topology>', 'which pools share agents (default: per-network)').choices(AGENT_TOPOLOGIES))
  .option('--kubevirt', 'the same on plain KubeVirt, without Harvester')
  .option('--wake-on-lan', 'instead: magic packets start virtual machines of a cluster, each of them once')
  .option('--hosts', 'instead: bare-metal hosts get addresses, are bound, restarted over Redfish, and outlive an agent that dies')
  .addHelpText('after', EXAMPLES)
  .parse()
  .opts<{ readonly topology?: AgentTopology; readonly kubevirt?: true; readonly wakeOnLan?: true; readonly hosts?: true }>();

const stories: readonly Story[] = [
  ...(topology !== undefined || (kubevirt ?? wakeOnLan ?? hosts) === undefined
    ? [addressStory(topology ?? 'per-network', 'harvester')]
    : []),
  ...(kubevirt === undefined ? [] : [addressStory('per-network', 'kubevirt')]),
  ...(wakeOnLan === undefined ? [] : [wakeOnLanStory]),
  ...(hosts === undefined ? [] : [bareMetalStory]),
];
const view = new LiveView(process.stdout);
let close: () => Promise<void> = async () => undefined;
let ending = false;
process.once('SIGINT', () => void end(130));
process.once('SIGTERM', () => void end(143));
try {
  for (const story of stories) await play(story);
  await end(0);
} catch (error) {
  // Ctrl-C ends the machines too: their messages about it are not shown.
  if (!ending) view.line(colors.red(error instanceof Error ? error.message : String(error)));
  await end(1);
}

async function play(story: Story): Promise<void> {
  const lab = new Lab();
  const ends: (() => Promise<void>)[] = [];
  let closing = false;
  close = async () => {
    if (closing) return;
    closing = true;
    view.end();
    for (const one of ends.reverse()) await one();
    await lab.dispose();
  };
  const stage: Stage = { lab, view, isClosing: () => closing, atEnd: (one) => void ends.push(one) };
  await story(stage);
  await close();
}

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  await close();
  process.exit(exitCode);
}
