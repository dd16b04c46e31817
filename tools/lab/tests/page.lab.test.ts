/// <reference lib="dom" />
/** The status page in a real browser, out of its real server: what people see, with which keys, and when the server goes away. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  examplePage,
  grantAll,
  HOSTILE_NAME,
  LARGE_POOL,
  MemoryPage,
  openPicture,
  PAGE_PICTURES,
  PICTURE_WORDS,
  picturedPage,
  startBrowser,
  waitFor,
  wordsOf,
} from '../src/index.js';
import { has, needs } from '../src/real-program.js';

const VIEWS = [
  '#/',
  '#/pools/default/net-48',
  `#/pools/${LARGE_POOL}`,
  '#/leases',
  '#/machines',
  '#/agents',
  '#/wake-on-lan',
  '#/hosts',
];
const WAIT = { timeout: 20_000 };
const PHONE = { width: 360, height: 760 };
const DESKTOP = { width: 1440, height: 900 };
const MOST_SCRIPT_OCTETS = 100_000;

let browser: Browser;
let served: MemoryPage;
const problems: string[] = [];

const cell = (address: string): string => `[role=gridcell][aria-label^="${address},"]`;

/** A page whose errors, and whose breaches of its Content-Security-Policy, fail the test. */
async function open(hash: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT.timeout);
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // A server that is not there is part of some tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
  });
  await page.goto(`${served.url}${hash}`);
  return page;
}

/** Another cluster in the place of the example. */
async function replaceWith(page: MemoryPage): Promise<MemoryPage> {
  await served.stop();
  await page.start();
  return page;
}

/** Waits until the view has its data. */
async function shown(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.locator('.loading').waitFor({ state: 'detached' });
  await page.locator('.view > div').waitFor();
}

async function isLive(page: Page): Promise<void> {
  await page.locator('.connection-live').waitFor();
}

/** Views with all colours that there are: those of the style sheet are compared in its own test. */
const COLOURED_VIEWS = ['#/', '#/pools/default/net-48', '#/agents'];
const COLOURS = ['color-contrast', 'target-size'];
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds against these rules (default: WCAG 2.2 AA), in words. The driver runs it: the page's policy would refuse the script. */
async function findBarriers(page: Page, rules: readonly string[] = ALL_RULES): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (runOnly) => {
    const { axe: loaded } = globalThis as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } };
    const { violations } = await loaded.run({ runOnly });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, rules);
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

describe.skipIf(!has('chromium'))(`the status page in a browser ${needs('chromium')}`, { timeout: 120_000 }, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });

  beforeEach(async () => {
    served = examplePage(Date.now());
    await served.start();
  });

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await served.stop();
    expect(served.errors).toEqual([]);
    expect(problems.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
  });

  it.each([
    ['a phone', 'light', PHONE, COLOURS],
    ['a phone', 'dark', PHONE, ALL_RULES],
    ['a desktop', 'light', DESKTOP, ALL_RULES],
    ['a desktop', 'dark', DESKTOP, COLOURS],
  ] as const)(
    'views on %s, %s: no barrier, nothing beside the screen, no markup out of names',
    async (_device, colorScheme, viewport, rules) => {
      const page = await open('', { viewport, colorScheme });
      for (const view of rules === COLOURS ? COLOURED_VIEWS : VIEWS) {
        await page.evaluate((hash) => {
          location.hash = hash;
        }, view);
        await page.locator('.view:not(:empty) .loading').waitFor({ state: 'detached' });
        await page.locator('main h1:focus, main h1').first().waitFor();
        await page.waitForFunction(
          () => document.querySelector('.view > div') !== null && document.querySelector('.loading') === null,
        );
        expect(await findBarriers(page, rules), view).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), view).toBeLessThanOrEqual(0);
      }
      expect(await page.evaluate(() => document.body.dataset['hacked'])).toBeUndefined();
      expect(await page.locator('main img, main script').count()).toBe(0);
    },
  );

  it('names that are markup are shown as they are', { tags: ['nightly'] }, async () => {
    const page = await open('#/leases?search=192.168.70.100');
    await page.getByText(HOSTILE_NAME, { exact: true }).waitFor();
    await page.getByText('<script>document.body.dataset.hacked=1</script>', { exact: true }).waitFor();
    await page.goto(`${served.url}#/machines`);
    await page.getByRole('heading', { level: 2, name: HOSTILE_NAME }).waitFor();
    expect(await page.evaluate(() => document.body.dataset['hacked'])).toBeUndefined();
  });

  it('is read with the keyboard alone: skip link, views, the map of a /16', async () => {
    const page = await open('#/');
    await shown(page, 'Overview');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
    expect(new URL(page.url()).hash).toBe('#/');
    await page.getByRole('link', { name: 'Leases', exact: true }).focus();
    await page.keyboard.press('Enter');
    await shown(page, 'Leases');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await page.keyboard.press('Tab');
    await page.keyboard.type('vm-9476');
    await page.getByRole('link', { name: '10.1.37.20', exact: true }).focus();
    await page.keyboard.press('Enter');
    await shown(page, `Pool ${LARGE_POOL}`);
    const focused = (): Promise<string | null | undefined> =>
      page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    await page.locator(cell('10.1.37.20')).focus();
    await page.locator(`${cell('10.1.37.20')}[aria-label$="default/vm-9476"]`).waitFor();
    expect(await focused()).toBe('10.1.37.20, used, default/vm-9476');
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toContain('10.1.37.21, used');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toContain('10.1.37.37, used');
    await page.keyboard.press('PageDown');
    expect(await focused()).toContain('10.1.38.37, used');
    await page.keyboard.press('Control+End');
    expect(await focused()).toContain('10.1.38.255, used');
    await page.getByRole('slider', { name: 'Block of 256 addresses' }).focus();
    await page.keyboard.press('End');
    expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toMatch(
      /^10\.1\.255\.0 to 10\.1\.255\.255: \d+ used, \d+ free$/,
    );
    await page.getByRole('textbox', { name: 'Find an address' }).fill('10.1.200.7');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('10.1.200.7, excluded');
    await page.getByRole('textbox', { name: 'Find an address' }).fill('10.2.0.1');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: '"10.2.0.1" is not in the subnet' }).waitFor();
  });

  it('shows changes as they happen, and leaves the focus where it is', async () => {
    const page = await open('#/pools/default/net-48?address=192.168.48.77');
    await isLive(page);
    await page.locator(cell('192.168.48.77')).focus();
    await page.locator('.inspector').getByText('02:00:5e:99:00:01').waitFor();
    served.change('default/net-48', [{ address: '192.168.48.150', machine: 'default/later' }], { removed: ['192.168.48.10'] });
    await page.locator('[aria-label="192.168.48.150, used, default/later"]').waitFor();
    await page.locator('[aria-label="192.168.48.10, free"]').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('192.168.48.77, quarantined');
    const reason = {
      reason: 'PoolExhausted',
      message: '',
      meaning: 'The pool has no free address.',
      remedy: 'Raise `end` of the pool.',
    };
    served.change('default/net-48', [], { notes: { state: 'broken', reasons: [reason] } });
    await page.getByText('Raise end of the pool.').waitFor();
    await page.goto(`${served.url}#/`);
    served.change('team-b/net-70', [], { notes: { state: 'ok', reasons: [] } });
    await page.getByRole('row', { name: /team-b\/net-70.*OK/ }).waitFor();
    await page.goto(`${served.url}#/leases?search=192.168.48.151`);
    await page.getByRole('row', { name: /default\/web-151/ }).waitFor();
    await isLive(page);
    served.change('default/net-48', [], { removed: ['192.168.48.151'] });
    await page.getByText('No lease matches').waitFor();
  });

  it('answers that arrive after the user has gone on change neither what is shown nor what is followed', async () => {
    const page = await open('#/');
    await isLive(page);
    await page.getByRole('row', { name: /team-b\/net-70/ }).waitFor();
    const goTo = (hash: string) =>
      page.evaluate((to) => {
        location.hash = to;
      }, hash);
    for (const path of ['**/api/overview', '**/api/pools/team-b/net-70']) {
      const late: (() => void)[] = [];
      let isFirst = true;
      await page.route(path, async (route) => {
        const isDelayed = isFirst;
        isFirst = false;
        if (isDelayed) await new Promise<void>((resolve) => late.push(resolve));
        await route.continue();
      });
      await goTo('#/pools/team-b/net-70');
      await waitFor('the delayed request', () => late.length > 0);
      await goTo('#/agents');
      await goTo('#/pools/default/net-48');
      await page.getByText('192.168.48.0/24').waitFor();
      const answered = page.waitForResponse(path);
      for (const release of late) release();
      await answered;
      await page.unroute(path);
      await page.getByText('192.168.48.0/24').waitFor();
      await page.locator(cell('192.168.48.77')).waitFor();
      expect(await page.locator('.view').textContent()).not.toContain('192.168.70.');
      await isLive(page);
      const machine = `default/late-${path.length}`;
      served.change('default/net-48', [{ address: '192.168.48.152', machine }], { removed: ['192.168.48.152'] });
      await page.locator(`[aria-label="192.168.48.152, used, ${machine}"]`).waitFor();
      await goTo('#/');
      await page.getByRole('row', { name: /team-b\/net-70/ }).waitFor();
    }
  });

  it('the list of leases names the new client of an address at once, and turns back when its part is gone', async () => {
    const page = await open('#/leases?search=192.168.48.20');
    await isLive(page);
    served.change('default/net-48', [], { removed: ['192.168.48.20'] });
    served.change('default/net-48', [{ address: '192.168.48.20', machine: 'team-b/other', mac: '02:00:00:00:00:99' }]);
    await page.getByRole('row', { name: /team-b\/other/ }).waitFor();
    const leases = Array.from({ length: 120 }, (_, index) => ({ address: `10.9.0.${index + 10}`, machine: `default/m${index}` }));
    const definition = {
      name: 'default/net-9',
      cidr: '10.9.0.0/24',
      serverAddress: '10.9.0.2',
      start: '10.9.0.10',
      end: '10.9.0.250',
    };
    served.putPool(definition, leases);
    await page.goto(`${served.url}#/leases?pool=default%2Fnet-9`);
    await isLive(page);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('101 to 120 of 120 leases').waitFor();
    served.change('default/net-9', [], { removed: leases.slice(90).map(({ address }) => address) });
    await page.getByText('90 leases', { exact: true }).waitFor();
    await page.getByRole('row', { name: /default\/m89/ }).waitFor();
  });

  it('loses no change while a pool changes continuously', { tags: ['nightly'] }, async () => {
    const page = await open('#/');
    await isLive(page);
    const addresses = Array.from({ length: 40 }, (_, index) => `192.168.48.${135 + index}`);
    for (const [index, address] of addresses.entries()) {
      served.change('default/net-48', [{ address, machine: `default/again-${index}` }]);
      // The page asks for the pool, and opens its stream, in the middle of the changes.
      if (index === 10) await page.evaluate(() => location.assign('#/pools/default/net-48'));
      else await page.evaluate(() => document.title);
    }
    for (const [index, address] of addresses.entries())
      await page.locator(`[aria-label="${address}, used, default/again-${index}"]`).waitFor();
  });

  it('says what the server does not know yet, until it knows it, even if nothing changes then', async () => {
    served.unready = ['virtualMachines: not listed yet'];
    const page = await open('');
    const unready = page.getByText('virtualMachines: not listed yet');
    await unready.waitFor();
    await isLive(page);
    served.unready = [];
    await unready.waitFor({ state: 'detached' });
  });

  it('problems come from every section, and good news only from sections that were checked', async () => {
    served = await replaceWith(new MemoryPage());
    const page = await open('#/');
    await page.getByText('Nothing needs attention.', { exact: true }).waitFor();
    const reason = { reason: 'HostUnhealthy', message: 'no route to host', meaning: '', remedy: 'Look at the address.' };
    const [host] = examplePage(Date.now()).hosts.hosts;
    if (host === undefined) throw new Error('the example has no hosts');
    served.hosts = {
      clusterAgents: [],
      hosts: Array.from({ length: 600 }, (_, index) => ({
        ...{ ...host, name: `rack-1-${String(index).padStart(4, '0')}` },
        ...(index === 599 && { isHealthy: false, reasons: [reason] }),
      })),
    };
    served.decide = () => grantAll('ann', { machines: { kind: 'denied', right: 'list virtualmachines' } });
    await page.reload();
    await page.getByText('HostUnhealthy no route to host').waitFor();
    await page.getByText('Not looked at: virtual machines (your user lacks the right to list virtualmachines).').waitFor();
    await page.getByRole('link', { name: 'rack-1-0599' }).click();
    await page.getByText('600 hosts: 1 needs action; the first 500 are shown').waitFor();
    await page.getByRole('row', { name: /^rack-1-0599.*Needs action.*What to do: Look at the address\./ }).waitFor();
    served.hosts = { clusterAgents: [], hosts: [] };
    await page.goto(`${served.url}#/`);
    await page.getByText('Nothing needs attention in: pools, agents, Wake-on-LAN, bare-metal hosts.').waitFor();
  });

  it('a Lease that is renewed looks new, without a new card', async () => {
    const page = await open('#/agents');
    // A new minute changes the words of the card.
    await page.clock.setFixedTime(Date.now());
    await page.reload();
    await isLive(page);
    await page.locator('.card').evaluate((card) => card.setAttribute('data-mark', ''));
    const [group] = served.agents.groups;
    if (group === undefined) throw new Error('the example has no agents');
    served.agents = { ...served.agents, groups: [{ ...group, renewedAtMs: Date.UTC(2025, 0, 1) }] };
    served.changed('agents');
    await page.locator('.card[data-mark] time[datetime="2025-01-01T00:00:00.000Z"]').waitFor();
  });

  it('shows the newest Events of a pool, or names the right that is missing', { tags: ['nightly'] }, async () => {
    const right = 'list events in all namespaces';
    const page = await open('#/pools/default/net-48');
    await page.getByRole('row', { name: /^AddressConflict.*Warning/ }).waitFor();
    served.decide = () => grantAll('ann', { events: { kind: 'denied', right } });
    await page.goto(`${served.url}#/agents`);
    await page.reload();
    await page.getByText(`Events are not shown: your user lacks the right to ${right}.`).waitFor();
  });

  it('says that it is not connected, tries again, and shows what changed meanwhile', { tags: ['nightly'] }, async () => {
    const page = await open('#/pools/default/net-48');
    await isLive(page);
    await page.locator(cell('192.168.48.150')).waitFor();
    await served.stop();
    await page.getByText(/^Not connected: this is as of .* Trying again\.$/).waitFor();
    served.change('default/net-48', [{ address: '192.168.48.150', machine: 'default/meanwhile' }]);
    await served.start();
    await isLive(page);
    await page.locator('[aria-label="192.168.48.150, used, default/meanwhile"]').waitFor();
  });

  it('asks for a token, and says what is denied and how to switch on what is off', async () => {
    const right = 'list hoststatuses.bmc.spidernet.io';
    served.decide = (token) =>
      token === 'of-ann'
        ? grantAll('ann', { hosts: { kind: 'denied', right }, 'wake-on-lan': { kind: 'off' } })
        : token === 'of-bob'
          ? { kind: 'refused', status: 403, error: 'forbidden', message: 'user "bob" lacks the right to list ippools' }
          : { kind: 'refused', status: 401, error: 'token-refused', message: 'the API server refuses the token' };
    const page = await open('#/');
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.getByLabel('Token', { exact: true }).fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'the API server refuses the token' }).waitFor();
    await page.getByLabel('Token', { exact: true }).fill('of-bob');
    await page.keyboard.press('Enter');
    await page.getByText('user "bob" lacks the right to list ippools').waitFor();
    await page.getByRole('button', { name: 'Sign in with another token' }).click();
    await page.getByLabel('Token', { exact: true }).fill('of-ann');
    await page.keyboard.press('Enter');
    await shown(page, 'Overview');
    await isLive(page);
    await page.getByRole('link', { name: 'Hosts', exact: true }).click();
    await page.getByText(`Your user lacks the right to ${right}.`).waitFor();
    await page.getByRole('link', { name: 'Wake-on-LAN', exact: true }).click();
    await page.getByText('helm upgrade … --set wakeOnLan.enabled=true').waitFor();
    served.decide = () => ({ kind: 'refused', status: 401, error: 'token-refused', message: 'the token has expired' });
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'the token has expired' }).waitFor();
  });

  it('draws the picture of a /16 with 40,000 leases, with less than 100 kB of script', { tags: ['nightly'] }, async () => {
    const page = await open('');
    await shown(page, 'Overview');
    const { scripts, travelled } = await page.evaluate(() => {
      const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const loaded = entries.filter(({ name }) => name.endsWith('.js'));
      const sum = (of: (entry: PerformanceResourceTiming) => number): number =>
        loaded.reduce((total, entry) => total + of(entry), 0);
      return { scripts: sum(({ decodedBodySize }) => decodedBodySize), travelled: sum(({ encodedBodySize }) => encodedBodySize) };
    });
    expect(travelled).toBeGreaterThan(10_000);
    expect(scripts).toBeLessThan(MOST_SCRIPT_OCTETS);
    await page.evaluate((pool) => {
      location.hash = `#/pools/${pool}`;
    }, LARGE_POOL);
    await page.waitForFunction(() => performance.getEntriesByName('vmdhcp-picture').length > 0);
    const [data = 0, picture = 0] = await page.evaluate(() =>
      ['vmdhcp-data', 'vmdhcp-picture'].map((name) => performance.getEntriesByName(name)[0]?.startTime ?? 0),
    );
    process.stdout.write(
      `the picture of a /16: ${(picture - data).toFixed(0)} ms after its data; script: ${travelled} octets, ${scripts} unpacked\n`,
    );
    // Pixels of the canvas, by colour: as many colours as states that there are.
    const colours = await page.evaluate(() => {
      const canvas = document.querySelector('canvas');
      const pixels = canvas?.getContext('2d')?.getImageData(0, 0, 256, 256).data ?? [];
      const counts = new Map<string, number>();
      for (let at = 0; at < pixels.length; at += 4) {
        const colour = pixels.slice(at, at + 3).join();
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
      }
      return [...counts.values()].sort((one, other) => other - one);
    });
    const { used, free, excluded } = await countsOfLegend(page);
    expect(colours.slice(0, 3)).toEqual([used, free, excluded]);
  });

  it('the pictures of docs/page.md have the words of the page; npm run pictures -- page creates them again', {
    tags: ['nightly'],
  }, async () => {
    served = await replaceWith(picturedPage(Date.now()));
    const file = new URL(`../../../${PICTURE_WORDS}`, import.meta.url);
    const pictured = JSON.parse(readFileSync(file, 'utf8')) as Record<string, readonly string[]>;
    expect(Object.keys(pictured)).toEqual(PAGE_PICTURES.map(({ name }) => name));
    for (const picture of PAGE_PICTURES) {
      const tab = await openPicture(browser, served.url, picture);
      const wanted = pictured[picture.name]?.join('\n');
      // Parts of the view, such as its Events, arrive later; ages change each second.
      await waitFor(`the words of ${picture.name}`, async () => (await wordsOf(tab)).join('\n') === wanted).catch(
        () => undefined,
      );
      expect((await wordsOf(tab)).join('\n')).toBe(wanted);
    }
  });

  it('these tests find an existing barrier', { tags: ['nightly'] }, async () => {
    const page = await open('#/');
    await shown(page, 'Overview');
    await page.evaluate(() => document.querySelector('main')?.append(document.createElement('input')));
    expect(await findBarriers(page)).toEqual([expect.stringMatching(/^label: <input/)]);
  });

  it('moves nothing if the user prefers reduced motion', { tags: ['nightly'] }, async () => {
    const page = await open('#/', { reducedMotion: 'reduce' });
    const animated = await page.evaluate(
      () => [...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).animationName !== 'none').length,
    );
    expect(animated).toBe(0);
  });
});

async function countsOfLegend(page: Page): Promise<Record<'used' | 'free' | 'excluded', number>> {
  const items = await page.getByRole('list', { name: 'Legend: addresses by state' }).getByRole('listitem').allInnerTexts();
  const counts = new Map(items.map((text) => [text.replace(/[\d,\s]+$/, '').trim(), Number(text.replace(/\D/g, ''))]));
  return { used: counts.get('Used') ?? 0, free: counts.get('Free') ?? 0, excluded: counts.get('Excluded') ?? 0 };
}
