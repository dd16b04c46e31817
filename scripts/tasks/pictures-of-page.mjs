// npm run pictures:page: the status page in a real Chromium, over data in memory, as the pictures of docs/page.md.
import { mkdirSync, statSync } from 'node:fs';
import { examplePage, startBrowser } from '../../tools/lab/dist/index.js';

const FOLDER = 'docs/pictures';
const DESKTOP = { width: 1000, height: 720 };
const WIDE = { width: 1250, height: 760 };
const PHONE = { width: 360, height: 740 };
const PICTURES = [
  { name: 'overview', hash: '#/', viewport: DESKTOP, colorScheme: 'light' },
  {
    name: 'pool',
    hash: '#/pools/default/net-48?address=192.168.48.77',
    viewport: DESKTOP,
    colorScheme: 'light',
    at: '#addresses',
    until: '02:00:5e:99:00:01',
  },
  {
    name: 'large-pool',
    hash: '#/pools/default/net-52?address=10.1.130.4',
    viewport: WIDE,
    colorScheme: 'dark',
    at: '.pictures',
  },
  { name: 'agents', hash: '#/agents', viewport: { width: 800, height: 640 }, colorScheme: 'light' },
  { name: 'phone', hash: '#/machines', viewport: PHONE, colorScheme: 'dark' },
];

mkdirSync(FOLDER, { recursive: true });
const page = examplePage(Date.now());
// Its name with markup is for tests.
page.machines = { ...page.machines, rows: page.machines.rows.map((row, index) => ({ ...row, name: ['new', 'db-22'][index] })) };
await page.start();
const browser = await startBrowser();
for (const { name, hash, viewport, colorScheme, at, until } of PICTURES) {
  const context = await browser.newContext({ viewport, colorScheme });
  const tab = await context.newPage();
  await tab.goto(`${page.url}${hash}`);
  await tab.locator('.connection-live').waitFor();
  await tab.locator('.view > div').waitFor();
  if (until !== undefined) await tab.getByText(until).first().waitFor();
  if (at !== undefined) await tab.locator(at).evaluate((element) => element.scrollIntoView({ block: 'start' }));
  const path = `${FOLDER}/page-${name}.png`;
  await tab.screenshot({ path });
  process.stdout.write(`${path} ${Math.ceil(statSync(path).size / 1024)} kB\n`);
  await context.close();
}
await browser.close();
await page.stop();
