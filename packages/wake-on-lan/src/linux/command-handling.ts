/** Without a cluster: logs each wake-up, and runs the user's command. */
import type { Logger } from '@vmdhcp/service-process';
import { describePlace } from '../listen/listening-ports.js';
import type { PacketWakeUp, WakeUpEnds } from '../report/packet-wake-up.js';
import type { CommandOutcome, WakeCommand } from './wake-command.js';
import type { WakeUpHandling } from './wake-up-handling.js';

/** @param command - undefined: wake-ups are only logged. */
export function handleByCommand(command: WakeCommand | undefined, hearing: WakeUpEnds, logger: Logger): WakeUpHandling {
  const counts = { accepted: 0, failed: 0 };
  const wake = async (wakeUp: PacketWakeUp): Promise<void> => {
    const { sighting, facts } = wakeUp;
    const { macAddress } = sighting;
    const { address: sender } = facts.sender;
    const listener = describePlace(facts.place);
    const about = { macAddress, sender, interface: facts.place.interfaceName, listener };
    const outcome = await runFor(command, wakeUp);
    if (outcome.ok) {
      hearing.accept(sighting);
      counts.accepted++;
      logger.info({ event: 'wake-up', ...about }, `wake-up of ${macAddress} by ${sender}, on ${listener}`);
      return;
    }
    hearing.refuse(sighting);
    counts.failed++;
    const message = `wake-up of ${macAddress} by ${sender}, on ${listener}: the command failed: ${outcome.why}`;
    logger.error({ event: 'wake-up-failed', ...about, reason: outcome.why }, message);
  };
  return {
    start: async () => {},
    wake: (wakeUp) => void wake(wakeUp),
    counts: () => counts,
    unready: () => [],
    registerMetrics: () => {},
    stop: async () => command?.stop(),
  };
}

async function runFor(command: WakeCommand | undefined, { sighting, facts }: PacketWakeUp): Promise<CommandOutcome> {
  if (command === undefined) return { ok: true };
  return command.run({
    WOL_MAC: sighting.macAddress,
    WOL_SENDER: facts.sender.address,
    WOL_INTERFACE: facts.place.interfaceName,
    WOL_LISTENER: describePlace(facts.place),
  });
}
