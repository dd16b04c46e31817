import type { PageCondition } from '../../model/page-data.js';
import { element } from '../dom/element.js';
import { DataTable } from './data-table.js';
import { timeElement } from './time-element.js';

/** The conditions of an object, in `<details>`: they are for people who know Kubernetes. */
export function conditionsTable(conditions: readonly PageCondition[], nowMs: number): HTMLElement | null {
  if (conditions.length === 0) return null;
  const table = new DataTable<PageCondition>({
    caption: 'Conditions',
    isCaptionHidden: true,
    keyOf: ({ type }) => type,
    columns: [
      { title: 'Condition', cell: ({ type }) => element('code', {}, type) },
      { title: 'Status', kind: 'aside', cell: ({ status }) => status },
      { title: 'Reason', cell: ({ reason }) => element('code', {}, reason) },
      { title: 'Since', kind: 'wide', cell: ({ sinceMs }) => timeElement(sinceMs, nowMs) },
      { title: 'Message', kind: 'wide', cell: ({ message }) => message },
    ],
  });
  table.show(conditions);
  return element('details', {}, [element('summary', {}, 'Conditions'), table.element]);
}
