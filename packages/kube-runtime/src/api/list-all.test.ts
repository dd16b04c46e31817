import { describe, expect, it } from 'vitest';
import { listAll } from './list-all.js';

/** A list of ten objects, in pages of three. */
function tenObjects() {
  const asked: (string | undefined)[] = [];
  const list = async ({ continueToken }: { readonly continueToken?: string }) => {
    asked.push(continueToken);
    const first = Number(continueToken ?? 0);
    const items = Array.from({ length: Math.min(3, 10 - first) }, (_, index) => ({ metadata: { name: `${first + index}` } }));
    return { items, resourceVersion: '1', ...(first + 3 < 10 && { continueToken: `${first + 3}` }) };
  };
  return { asked, list };
}

describe('listAll', () => {
  it('returns the objects of every page, in order', async () => {
    const objects = await listAll(tenObjects());
    expect(objects.map(({ metadata: { name } }) => Number(name))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each([
    [1, 3, [undefined]],
    [4, 6, [undefined, '3']],
    [6, 6, [undefined, '3']],
  ])('reads no further page once it has %d objects', async (most, length, pages) => {
    const port = tenObjects();
    expect(await listAll(port, most)).toHaveLength(length);
    expect(port.asked).toEqual(pages);
  });

  it('throws what a page fails with', async () => {
    const failed = new Error('the server is gone');
    await expect(listAll({ list: () => Promise.reject(failed) })).rejects.toBe(failed);
  });
});
