import { type ParsedKind, parseByKind } from './parse-by-kind.js';
import { type WolConfig, wolConfig } from './wol-config.js';

/** The WolConfig in parsed YAML or JSON, or everything that its schema finds wrong with it. Never throws. */
export function parseWolConfig(value: unknown): ParsedKind<WolConfig> {
  return parseByKind<WolConfig>({ WolConfig: wolConfig }, value);
}
