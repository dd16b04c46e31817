// How a changeset becomes an entry of a CHANGELOG. All packages have one version, so that a dependency of ours was updated is no news.
import { repository } from '../scripts/repository.mjs';

/** The text of the changeset, and the commit that it came with. */
export function getReleaseLine({ summary, commit }) {
  const [first = '', ...rest] = summary.trimEnd().split('\n');
  const link = commit === undefined ? '' : ` ([${commit.slice(0, 7)}](${repository.url}/commit/${commit}))`;
  const more = rest.map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
  return Promise.resolve(more === '' ? `- ${first}${link}` : `- ${first}\n${more}${link}`);
}

/** Nothing. */
export function getDependencyReleaseLine() {
  return Promise.resolve('');
}
