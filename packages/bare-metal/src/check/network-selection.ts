import { isInterfaceName } from './interface-name.js';

const NAME = '[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?';
const NETWORK = new RegExp(`^(?:${NAME}/)?${NAME}(?:@(?<interfaceName>[^@]+))?$`);

/**
 * True for what Multus accepts in its annotation: one or several NetworkAttachmentDefinitions with commas, each
 * `namespace/name@interface` with optional namespace and interface; or a JSON list, which Multus parses itself. Source:
 * multus-cni, docs/how-to-use.md.
 */
export function isNetworkSelection(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith('[') ? isJson(trimmed) : trimmed.split(',').every((one) => isNetwork(one.trim()));
}

function isNetwork(text: string): boolean {
  const found = NETWORK.exec(text);
  const name = found?.groups?.['interfaceName'];
  return found !== null && (name === undefined || isInterfaceName(name));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
