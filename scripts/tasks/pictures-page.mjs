// npm run pictures -- page: the status page in a real Chromium, over data in memory, as the pictures of docs/page.md, and their words, by which a test knows when they are old.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { openPicture, PAGE_PICTURES, PICTURE_WORDS, picturedPage, startBrowser, wordsOf } from '../../tools/lab/dist/index.js';

const FOLDER = 'docs/pictures';

mkdirSync(FOLDER, { recursive: true });
const page = picturedPage(Date.now());
await page.start();
const browser = await startBrowser();
const words = {};
for (const picture of PAGE_PICTURES) {
  const tab = await openPicture(browser, page.url, picture);
  const path = `${FOLDER}/page-${picture.name}.png`;
  await tab.screenshot({ path });
  process.stdout.write(`${path} ${Math.ceil(statSync(path).size / 1024)} kB\n`);
  words[picture.name] = await wordsOf(tab);
  await tab.context().close();
}
writeFileSync(PICTURE_WORDS, `${JSON.stringify(words, null, 2)}\n`);
spawnSync('node_modules/.bin/biome', ['format', '--write', PICTURE_WORDS], { stdio: 'ignore' });
await browser.close();
await page.stop();
