import { importedScript } from './imported-script.js';

/**
 * For the environment of a program of ours: time passes faster by this factor for `performance.now` and timers. Date, TLS and HTTP have the time of
 * the host.
 */
export function clockSpeed(factor: number): Readonly<Record<string, string>> {
  return importedScript(`const now = performance.now.bind(performance); performance.now = () => now() * ${factor};
    for (const name of ['setTimeout', 'setInterval']) {
      const real = globalThis[name];
      globalThis[name] = (run, delayMs, ...given) => real(run, delayMs / ${factor}, ...given);
    }`);
}
