import { isImage } from '@vmdhcp/ippool-api/agent';
import { InvalidArgumentError } from 'commander';

/**
 * `registry:5000/repository:tag`; without a tag it is `latest`, and a colon before the last slash belongs to a port.
 *
 * @throws InvalidArgumentError
 */
export function parseImage(text: string): string {
  const slash = text.lastIndexOf('/');
  const name = text.slice(slash + 1);
  const [, repository, mark = '', tag] = /^([^:@\s]+)(?:([:@])(\S+))?$/.exec(name) ?? [];
  if (repository === undefined || (mark === ':' && tag?.includes(':')) || !isImage(text)) {
    throw new InvalidArgumentError('write REPOSITORY:TAG, as in registry.example.com:5000/vmdhcp/vmdhcp-agent:v1.');
  }
  return mark === '' ? `${text}:latest` : text;
}
