import { describe, expect, it } from 'vitest';
import { parseImage } from './parse-image.js';

describe('parseImage', () => {
  it.each([
    ['reg:5000/a/b:v0.3.3', 'reg:5000/a/b:v0.3.3'],
    ['a/b:v0.3.3', 'a/b:v0.3.3'],
    ['a/b', 'a/b:latest'],
    ['reg:5000/a/b', 'reg:5000/a/b:latest'],
    ['a/b@sha256:0123', 'a/b@sha256:0123'],
  ])('%s is %s', (text, image) => {
    expect(parseImage(text)).toBe(image);
  });

  it.each(['a/b:', 'reg:5000/a/b:v1:latest', '', 'a b', 'a/', '<your-registry>/agent:custom', '$REGISTRY/agent:v1'])(
    '%j is not an image',
    (text) => {
      expect(() => parseImage(text)).toThrow('write REPOSITORY:TAG');
    },
  );
});
