// What a release is made of, as outputs of a workflow's step: `node scripts/print-release.mjs >> "$GITHUB_OUTPUT"`.
import { readFileSync } from 'node:fs';
import { repository } from './repository.mjs';

const { version } = JSON.parse(readFileSync('packages/controller-cli/package.json', 'utf8'));
process.stdout.write(`version=${version}\nregistry=${repository.registry}\n`);
