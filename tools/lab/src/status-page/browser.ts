/** A real browser without a screen. */
import { spawnSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { SYSTEM_PATH } from '../real-program.js';

/**
 * Chromium of the distribution. Everything that it does ends with `close`.
 *
 * Without its sandbox: tests run as root in namespaces, where it cannot make one, and open pages of loopback alone.
 * @throws Error if it is not installed.
 */
export async function startBrowser(): Promise<Browser> {
  const found = spawnSync('sh', ['-c', 'command -v chromium'], { env: { PATH: SYSTEM_PATH }, encoding: 'utf8' });
  if (found.status !== 0) throw new Error('chromium is not installed: apt-get install chromium');
  // Loaded here: other tests of the lab need no browser.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: found.stdout.trim(), chromiumSandbox: false });
}
