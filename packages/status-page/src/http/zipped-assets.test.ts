import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadAssets } from './load-assets.js';
import { request, servePage } from './page-handler-fixtures.js';

it.each([
  ['gzip, deflate, br', true],
  ['gzip;q=0.5', true],
  ['br', false],
  ['gzip;q=0, br', false],
  ['GZIP', true],
  [undefined, false],
])('RFC 9110 §12.5.3: a client that accepts %s gets the style sheet compressed: %s', async (accepted, isZipped) => {
  const assets = loadAssets();
  const page = await servePage({ assets });
  const style = assets.get('/assets/style.css');
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const answer = await request(page.server.port, '/assets/style.css', { headers });
  expect(answer.headers['content-encoding']).toBe(isZipped ? 'gzip' : undefined);
  expect(answer.headers.vary).toBe('accept-encoding');
  expect(Number(answer.headers['content-length'])).toBe(isZipped ? style?.zipped?.length : style?.body.length);
  expect(style?.zipped === undefined ? '' : gunzipSync(style.zipped).toString()).toBe(style?.body.toString());
  await page.server.stop();
});
