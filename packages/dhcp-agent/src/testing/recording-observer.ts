import type { AgentEvent } from '../agent-event.js';
import type { AgentObserver } from '../ports.js';

/** Records events, in order. */
export class RecordingObserver implements AgentObserver {
  readonly events: AgentEvent[] = [];

  observe(event: AgentEvent): void {
    this.events.push(event);
  }

  /** The events of one kind. */
  of<Kind extends AgentEvent['kind']>(kind: Kind): Extract<AgentEvent, { readonly kind: Kind }>[] {
    return this.events.filter((event): event is Extract<AgentEvent, { readonly kind: Kind }> => event.kind === kind);
  }

  kinds(): AgentEvent['kind'][] {
    return this.events.map(({ kind }) => kind);
  }
}
