import { CommandError, ExitCode } from '@vmdhcp/service-process';

export interface ReadyOptions {
  /** Seconds. */
  readonly timeout: number;
}

const ASK_EVERY_MS = 200;
const ANSWER_WITHIN_MS = 2_000;

/**
 * Prints a line for each status server that is ready. @throws CommandError if one was not ready in time, with what it waits for.
 */
export async function ready(urls: readonly URL[], { timeout }: ReadyOptions): Promise<void> {
  const giveUpAtMs = performance.now() + timeout * 1000;
  const problems = await Promise.all(urls.map((url) => untilReady(url, giveUpAtMs)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new CommandError(`not ready after ${timeout} s: ${found.join('; ')}`, ExitCode.unavailable);
}

/** Undefined if it is ready. */
async function untilReady(url: URL, giveUpAtMs: number): Promise<string | undefined> {
  for (;;) {
    const unready = await ask(url);
    if (unready === undefined) {
      process.stdout.write(`${url.origin} is ready\n`);
      return undefined;
    }
    if (performance.now() + ASK_EVERY_MS > giveUpAtMs) return `${url.origin} (${unready})`;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

async function ask(url: URL): Promise<string | undefined> {
  try {
    const answer = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const text = await answer.text();
    return answer.ok ? undefined : text.trim().replaceAll('\n', ', ');
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}
