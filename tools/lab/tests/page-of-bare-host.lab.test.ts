/** The page of a bare host in a real browser, out of the agent that serves its pools. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { has, Lab, LabAgent, type Machine, needs, poolsYaml, run, runAgent, startBrowser, waitFor } from '../src/index.js';

const MAC = '02:00:00:00:48:01';
const OTHER_MAC = '02:00:00:00:48:02';
const POOLS = poolsYaml(
  [{ name: 'net-48', prefix: '192.168.48', settings: ['router: 192.168.48.1', 'leaseTime: 600'], ipv6: ['cidr: fd00:48::/64'] }],
  [
    { name: 'vm-a', pool: 'net-48', macAddress: MAC },
    { name: 'vm-b', pool: 'net-48', macAddress: OTHER_MAC },
  ],
);
const PORT = 8169;

let lab: Lab;
let machine: Machine;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  if (!has('chromium')) return;
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  machine = lab.addMachine('vm-a', { network: 'br48', macAddress: MAC });
  const parameters = ['--ui', '--ui-listen', `127.0.0.1:${PORT}`];
  const agent = await LabAgent.start(lab, { pools: POOLS, interfaces: ['net-48=br48'], parameters });
  await agent.process.line('the page is served');
  // Chromium breaks off requests when an address appears (ERR_NETWORK_CHANGED): those of IPv6 take a second or two.
  await waitFor('IPv6 addresses that are not tentative', () => !run('ip', ['-6', 'address', 'show']).includes('tentative'));
  browser = await startBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(20_000);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await lab?.dispose();
});

it.skipIf(!has('chromium'))(
  `a bare host on its page: its pool, an address before and after its client asks, and no views that it does not have ${needs('chromium')}`,
  { timeout: 120_000 },
  async () => {
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`http://127.0.0.1:${PORT}/#/`);
    const isCalm = page.getByText('Nothing needs attention.', { exact: true }).waitFor();
    await isCalm.catch(async () => expect.fail(`the page shows:\n${await page.locator('body').textContent()}`));
    await page.getByRole('row', { name: /^default\/net-48.*0 of 90 used.*OK$/ }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Views' }).getByRole('link').allInnerTexts()).toEqual([
      'Overview',
      'Leases',
    ]);
    await page.getByRole('link', { name: 'default/net-48' }).click();
    await page.locator('[aria-label="192.168.48.1, router"]').waitFor();
    await page.locator('[aria-label="192.168.48.10, reserved, default/vm-a"]').waitFor();
    const served = page.locator('.facts div', { hasText: 'Served by' }).locator('dd');
    expect(await served.textContent()).not.toBe('none');
    expect((await runAgent(machine, 'probe', '--interface', 'eth0', '--request')).code).toBe(0);
    await page.locator('[aria-label="192.168.48.10, used, default/vm-a"]').waitFor();
    await page.locator('[aria-label="192.168.48.11, reserved, default/vm-b"]').waitFor();
    await page.getByText(/^1 of 90 used/).waitFor();
    await page.locator('[aria-label="192.168.48.10, used, default/vm-a"]').click();
    await page.locator('.inspector').getByText('fd00:48::a', { exact: true }).waitFor();
    await page.goto(`http://127.0.0.1:${PORT}/#/leases`);
    await page.getByRole('row', { name: /^192\.168\.48\.10\s*fd00:48::a .*default\/vm-a/ }).waitFor();
    await page.getByLabel('Search').fill('FD00:48::B');
    await page.getByRole('row', { name: /^192\.168\.48\.11\s*fd00:48::b / }).waitFor();
    await page.getByRole('row', { name: /^192\.168\.48\.10/ }).waitFor({ state: 'detached' });
    await page.goto(`http://127.0.0.1:${PORT}/#/pools/default/net-48`);
    expect(problems).toEqual([]);
  },
);

it.skipIf(!has('chromium'))(
  `the page shows changes made before its first event ${needs('chromium')}`,
  { timeout: 120_000 },
  async () => {
    const late = await browser.newPage();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await late.route('**/api/events*', async (route) => {
      await released;
      await route.continue();
    });
    await late.goto(`http://127.0.0.1:${PORT}/#/`);
    await late.getByRole('row', { name: /^default\/net-48.*1 of 90 used/ }).waitFor();
    const other = lab.addMachine('vm-b', { network: 'br48', macAddress: OTHER_MAC });
    expect((await runAgent(other, 'probe', '--interface', 'eth0', '--request')).code).toBe(0);
    // From here on nothing changes any more that an event could report.
    await page.getByText(/^2 of 90 used/).waitFor();
    release();
    await late.getByRole('row', { name: /^default\/net-48.*2 of 90 used/ }).waitFor({ timeout: 20_000 });
    await late.close();
  },
);
