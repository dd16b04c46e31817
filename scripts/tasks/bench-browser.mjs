// npm run bench -- browser: the status page in a real Chromium: how long until the picture of a /16, and the processor time while leases change.
import { setTimeout as delay } from 'node:timers/promises';
import { examplePage, LARGE_POOL, startBrowser } from '../../tools/lab/dist/index.js';

const ROUNDS = 10;
const SECONDS = 10;
const CHANGES_A_SECOND = 100;
const BATCHES_A_SECOND = 10;
const SMALL_POOL = 'default/net-48';

const page = examplePage(Date.now());
await page.start();
const browser = await startBrowser();
const system = await browser.newBrowserCDPSession();
await measurePictures();
await measureChanges();
await browser.close();
await page.stop();

/** Each round is a new context: nothing is cached. */
async function measurePictures() {
  process.stdout.write(
    '| pool | screen | from the start of the navigation to the picture, ms: median, most | from the data to the picture | script, kB | as it travels |\n',
  );
  process.stdout.write('| --- | --- | --- | --- | --- | --- |\n');
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 360, height: 740 },
  ]) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measurePicture(LARGE_POOL, viewport));
    const of = (name) => describe(rounds.map((round) => round[name]));
    const { script, travels } = rounds[0];
    process.stdout.write(
      `| /16, 39,317 leases | ${viewport.width} px | ${of('picture')} | ${of('sinceData')} | ${kB(script)} | ${kB(travels)} |\n`,
    );
  }
}

async function measurePicture(pool, viewport) {
  const context = await browser.newContext({ viewport });
  const tab = await context.newPage();
  await tab.goto(`${page.url}#/pools/${pool}`);
  await tab.waitForFunction(() => performance.getEntriesByName('vmdhcp-picture').length > 0);
  const measured = await tab.evaluate(() => {
    const at = (name) => performance.getEntriesByName(name)[0].startTime;
    const scripts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
    const sum = (of) => scripts.reduce((total, entry) => total + of(entry), 0);
    return {
      picture: at('vmdhcp-picture'),
      sinceData: at('vmdhcp-picture') - at('vmdhcp-data'),
      script: sum(({ decodedBodySize }) => decodedBodySize),
      travels: sum(({ encodedBodySize }) => encodedBodySize),
    };
  });
  await context.close();
  return measured;
}

async function measureChanges() {
  process.stdout.write(
    `\n| view, ${SECONDS} s each | leases that change each second | processor of the page, % | of all of Chromium | events | MB received |\n`,
  );
  process.stdout.write('| --- | --- | --- | --- | --- | --- |\n');
  for (const [title, hash, pool] of [
    ['pool, /16', `#/pools/${LARGE_POOL}`, LARGE_POOL],
    ['pool, /24', `#/pools/${SMALL_POOL}`, SMALL_POOL],
    ['overview', '#/', LARGE_POOL],
    ['leases', '#/leases', LARGE_POOL],
  ])
    for (const perSecond of [0, CHANGES_A_SECOND]) await measureView({ title, hash, pool, perSecond });
}

async function measureView({ title, hash, pool, perSecond }) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const tab = await context.newPage();
  const network = await context.newCDPSession(tab);
  await network.send('Network.enable');
  let [octets, pieces] = [0, 0];
  network.on('Network.dataReceived', ({ dataLength }) => {
    octets += dataLength;
    pieces++;
  });
  await tab.goto(`${page.url}${hash}`);
  await tab.locator('.connection-live').waitFor();
  await delay(2000);
  [octets, pieces] = [0, 0];
  const before = await processorTimes();
  await changeLeases(pool, perSecond);
  const after = await processorTimes();
  const percent = (name) => ((100 * (after[name] - before[name])) / SECONDS).toFixed(1);
  process.stdout.write(
    `| ${title} | ${perSecond} | ${percent('renderer')} | ${percent('all')} | ${pieces} | ${(octets / 1e6).toFixed(2)} |\n`,
  );
  await context.close();
}

/** Clients come and go: each second half of `perSecond` leases are new, and the other half are those of the second before that end. */
async function changeLeases(pool, perSecond) {
  const free =
    pool === LARGE_POOL
      ? (index) => `10.1.${120 + (index % 60)}.${(index * 3) % 250}`
      : (index) => `192.168.48.${135 + (index % 60)}`;
  let [next, former] = [0, []];
  for (let batch = 0; batch < SECONDS * BATCHES_A_SECOND; batch++) {
    if (perSecond > 0) {
      const leases = Array.from({ length: perSecond / BATCHES_A_SECOND / 2 }, () => ({
        address: free(next++),
        machine: `default/new-${next}`,
      }));
      const fresh = new Set(leases.map(({ address }) => address));
      page.change(pool, leases, { removed: former.filter((address) => !fresh.has(address)) });
      former = [...fresh];
    }
    await delay(1000 / BATCHES_A_SECOND);
  }
}

/** Seconds of processor time of the renderers and of all processes of the browser. */
async function processorTimes() {
  const { processInfo } = await system.send('SystemInfo.getProcessInfo');
  const sum = (found) => found.reduce((total, { cpuTime }) => total + cpuTime, 0);
  return { renderer: sum(processInfo.filter(({ type }) => type === 'renderer')), all: sum(processInfo) };
}

function describe(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return `${Math.round(sorted[Math.floor(sorted.length / 2)])}, ${Math.round(sorted.at(-1))}`;
}

function kB(octets) {
  return (octets / 1000).toFixed(0);
}
