import { element } from '../dom/element.js';
import { notice } from '../parts/notice.js';
import type { RequestFailure, View } from './view.js';

/** The view for an unknown address. */
export class UnknownView implements View {
  readonly title = 'There is no such view';
  readonly section = 'pools';
  readonly element: HTMLElement;

  constructor(hash: string) {
    this.element = notice('This page has no such view', [
      element('p', {}, [element('code', {}, hash)]),
      element('p', {}, [element('a', { href: '#/' }, 'Go to the overview')]),
    ]);
  }

  load(): Promise<RequestFailure | undefined> {
    return Promise.resolve(undefined);
  }
}
