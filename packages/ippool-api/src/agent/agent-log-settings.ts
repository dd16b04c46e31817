/**
 * What agents log: for a group in an annotation of its Lease, which the controller writes and every replica watches, and for one
 * pool in annotations of its IPPool. Both take effect while the agents run.
 */
import { LOG_LEVEL_ANNOTATION, LOG_PACKETS_ANNOTATION } from '../labels.js';
import { quote } from './cut-text.js';
import { fieldsOf, parseJson } from './read-json.js';

/** How much an agent logs, the most first. */
export const AGENT_LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
/** How much an agent logs. */
export type AgentLogLevel = (typeof AGENT_LOG_LEVELS)[number];

/** A setting that is left out falls back to that of the pool's group, and then to the agent's command line. */
export interface AgentLogSettings {
  readonly level?: AgentLogLevel;
  /** True if whole packets are logged at `info`, decoded option by option. */
  readonly packets?: boolean;
}

/** The text of the Lease's annotation; undefined where nothing is set. */
export function formatAgentLogSettings({ level, packets }: AgentLogSettings): string | undefined {
  if (level === undefined && packets === undefined) return undefined;
  return JSON.stringify({ ...(level !== undefined && { level }), ...(packets !== undefined && { packets }) });
}

/** The settings that an annotation holds; what cannot be read is left out. Never throws. */
export function parseAgentLogSettings(text: string | undefined): AgentLogSettings {
  const { level: levelText, packets } = fieldsOf(parseJson(text));
  const level = toLevel(levelText);
  return { ...(level !== undefined && { level }), ...(typeof packets === 'boolean' && { packets }) };
}

/** An annotation with an invalid value, and what to write. */
export interface AnnotationProblem {
  readonly key: string;
  readonly value: string;
  readonly message: string;
  readonly remedy: string;
}

/** How much is logged about a pool, and which annotations of it cannot be read. */
export interface PoolLogSettings {
  readonly settings: AgentLogSettings;
  /** Annotations that cannot be read and are left out. */
  readonly problems: readonly AnnotationProblem[];
}

/** What the annotations of an IPPool set. Never throws. */
export function readPoolLogSettings(annotations: Readonly<Record<string, string>>): PoolLogSettings {
  const levelText = annotations[LOG_LEVEL_ANNOTATION];
  const packetsText = annotations[LOG_PACKETS_ANNOTATION];
  const level = toLevel(levelText);
  const isPackets = packetsText === 'true' || packetsText === 'false';
  const problems: AnnotationProblem[] = [];
  if (levelText !== undefined && level === undefined)
    problems.push(unreadable(LOG_LEVEL_ANNOTATION, levelText, `write one of ${AGENT_LOG_LEVELS.join(', ')}`));
  if (packetsText !== undefined && !isPackets)
    problems.push(unreadable(LOG_PACKETS_ANNOTATION, packetsText, 'write "true" or "false"'));
  return {
    settings: { ...(level !== undefined && { level }), ...(isPackets && { packets: packetsText === 'true' }) },
    problems,
  };
}

function unreadable(key: string, value: string, remedy: string): AnnotationProblem {
  return { key, value, message: `annotation ${key} is ${quote(value)}`, remedy };
}

function toLevel(text: unknown): AgentLogLevel | undefined {
  return AGENT_LOG_LEVELS.find((level) => level === text);
}
