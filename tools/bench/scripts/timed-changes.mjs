// Parts of `npm run bench -- wake-on-lan`: how long changes take, and what the longest one waited for.
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

const processorTime = (before) => process.threadCpuUsage(before);

/** @param change - makes the change of this number. @param prepare - what is not measured before each. @returns median, 99 % and longest; and of the longest one garbage collection and processor time, as text. */
export async function timedChanges(count, change, prepare = () => undefined) {
  const pauses = [];
  const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const changes = Array.from({ length: count }, (_, number) => {
    prepare();
    const usedBefore = processorTime();
    const startedAt = performance.now();
    change(number);
    const durationMs = performance.now() - startedAt;
    const used = processorTime(usedBefore);
    return { startedAt, durationMs, usedMs: (used.user + used.system) / 1000 };
  }).toSorted((one, other) => one.durationMs - other.durationMs);
  // Pauses are reported a little later.
  await delay(50);
  observer.disconnect();
  const longest = changes.at(-1);
  const isWithin = ({ startTime }) => startTime >= longest.startedAt && startTime <= longest.startedAt + longest.durationMs;
  const collectedMs = pauses.filter(isWithin).reduce((sum, { duration }) => sum + duration, 0);
  const durations = [0.5, 0.99, 1].map((part) => milliseconds(changes[Math.floor(part * (count - 1))].durationMs));
  return `${durations.join(', ')} (garbage ${milliseconds(collectedMs)}, processor ${milliseconds(longest.usedMs)})`;
}

const milliseconds = (duration) => `${duration.toFixed(3)} ms`;
