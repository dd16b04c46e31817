/** The pictures of docs/page.md: which views they show, and their words, by which a test knows that a picture is of an older page. */
import type { Browser, Page } from 'playwright-core';
import { examplePage } from './example-page.js';
import type { MemoryPage } from './memory-page.js';

export interface PagePicture {
  readonly name: string;
  readonly hash: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme: 'light' | 'dark';
  /** What stands at the upper edge; absent: the page from its beginning. */
  readonly at?: string;
  /** A text that comes late. */
  readonly until?: string;
}

const DESKTOP = { width: 1000, height: 720 };

export const PAGE_PICTURES: readonly PagePicture[] = [
  { name: 'overview', hash: '#/', viewport: DESKTOP, colorScheme: 'light' },
  {
    ...{ name: 'pool', hash: '#/pools/default/net-48?address=192.168.48.77', viewport: DESKTOP, colorScheme: 'light' },
    ...{ at: '#addresses', until: '02:00:5e:99:00:01' },
  },
  {
    ...{ name: 'large-pool', hash: '#/pools/default/net-52?address=10.1.130.4', viewport: { width: 1250, height: 760 } },
    ...{ colorScheme: 'dark', at: '.pictures', until: 'default/vm-33268' },
  },
  { name: 'agents', hash: '#/agents', viewport: { width: 800, height: 640 }, colorScheme: 'light' },
  { name: 'phone', hash: '#/machines', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
];

/** Has the words of each picture by its name. */
export const PICTURE_WORDS = 'docs/pictures/page-words.json';

/** The example, whose name with markup is for tests. */
export function picturedPage(nowMs: number): MemoryPage {
  const page = examplePage(nowMs);
  const rows = page.machines.rows.map((row, index) => ({ ...row, name: ['db-22', 'new'][index] ?? row.name }));
  page.machines = { ...page.machines, rows };
  return page;
}

/** Opens the view of a picture in a tab of its own, and waits until it is whole. */
export async function openPicture(browser: Browser, url: string, picture: PagePicture): Promise<Page> {
  const { hash, viewport, colorScheme, at, until } = picture;
  const context = await browser.newContext({ viewport, colorScheme });
  const tab = await context.newPage();
  await tab.goto(`${url}${hash}`);
  await tab.locator('.connection-live').waitFor();
  await tab.locator('.view > div').waitFor();
  if (until !== undefined) await tab.getByText(until).first().waitFor();
  if (at !== undefined) await tab.locator(at).evaluate((element) => element.scrollIntoView({ block: 'start' }));
  return tab;
}

/** What a person reads there, but for ages. */
export async function wordsOf(tab: Page): Promise<readonly string[]> {
  for (const time of await tab.locator('time').all()) await time.evaluate((element) => element.replaceChildren('…'));
  const texts = await tab.locator('nav[aria-label="Views"], main > h1, .view > div').allInnerTexts();
  return texts.flatMap((text) => text.split('\n').map((line) => line.trim())).filter((line) => line !== '');
}
