import type { Overview, PageEvent, PoolsChange, Section } from '../../model/page-data.js';
import { type ConnectionState, LiveConnection } from '../connection/live-connection.js';
import { PageClient } from '../connection/page-client.js';
import { element, fill, setText } from '../dom/element.js';
import { notice, sectionNotice } from '../parts/notice.js';
import { refreshTimes } from '../parts/time-element.js';
import { formatRoute, type PageRoute, parseRoute } from '../route/page-route.js';
import { describeAge } from '../text/describe-age.js';
import { describeAccess } from '../text/section-help.js';
import { makeView } from '../views/make-view.js';
import type { PageContext } from '../views/page-context.js';
import type { RequestFailure, View } from '../views/view.js';
import { applyPoolsChange } from './apply-pools-change.js';
import { ConnectionLine } from './connection-line.js';
import { signInAgainButton, signInForm } from './sign-in.js';
import { ViewLinks } from './view-links.js';

const TIMES_EVERY_MS = 5000;
/** The server lists them again after at most half of this time. */
const EVENTS_EVERY_MS = 10_000;
/** Parts of the overview without events (the leader, rights) are requested again after this time, when a view is. */
const OVERVIEW_MS = 30_000;
/** Lists that change all the time are requested at most this often. */
const RELOAD_EVERY_MS = 1000;

/** The elements of index.html that the page fills. */
export interface PageElements {
  readonly main: HTMLElement;
  readonly nav: HTMLElement;
  readonly connection: HTMLElement;
  /** Read by screen readers when it changes. */
  readonly changes: HTMLElement;
}

/** The page: which view is shown, with which data, and how old it is. */
export class Page {
  readonly #elements: PageElements;
  readonly #client: PageClient;
  readonly #live: LiveConnection;
  readonly #links: ViewLinks;
  readonly #line: ConnectionLine;
  readonly #heading = element('h1', { tabindex: -1 });
  readonly #body = element('div', { class: 'view' });
  readonly #problem = element('div', { class: 'view-problem' });
  readonly #context: PageContext;
  #view: View | undefined;
  #overview: Overview | undefined;
  #connection: ConnectionState = { kind: 'connecting' };
  /** How far the clock of the server is ahead of this one. */
  #aheadMs = 0;
  #heardAtMs = 0;
  /** The pool whose changes are followed; empty for none. Undefined if nothing is followed. */
  #followed: string | undefined;
  /** True if changes since the last event may have been missed. */
  #hasGap = false;
  #loadedAtMs = 0;
  /** The number of requested overviews, and the newest that arrived. */
  #asked = 0;
  #taken = 0;
  #overviewAtMs = Number.NEGATIVE_INFINITY;
  #reload: ReturnType<typeof setTimeout> | undefined;

  constructor(elements: PageElements, base: string) {
    this.#elements = elements;
    this.#client = new PageClient(base);
    this.#links = new ViewLinks(elements.nav);
    this.#line = new ConnectionLine(elements.connection);
    this.#live = new LiveConnection(this.#client, {
      onEvent: (event) => this.#takeEvent(event),
      onState: (state) => this.#showConnection(state),
    });
    this.#context = {
      client: this.#client,
      nowMs: () => Date.now() + this.#aheadMs,
      overview: () => this.#overview,
      follow: (pool, version) => this.#follow(pool, version),
      rename: (route) => history.replaceState(null, '', formatRoute(route)),
      announce: (text) => setText(elements.changes, text),
    };
    fill(elements.main, [this.#heading, this.#problem, this.#body]);
  }

  /** Shows the view of the address, and follows it from now on. */
  start(): void {
    addEventListener('hashchange', () => void this.#navigate(true));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#view?.recolor?.());
    setInterval(() => this.#tick(), TIMES_EVERY_MS);
    void this.#navigate(false);
  }

  async #navigate(isFocused: boolean): Promise<void> {
    const route = parseRoute(location.hash);
    const view = makeView(route, this.#context);
    this.#view = view;
    this.#showHeading(view.title, route.view);
    fill(this.#problem, []);
    fill(this.#body, [element('p', { class: 'loading' }, 'Loading …')]);
    if (isFocused) this.#heading.focus();
    this.#follow('', '');
    await this.#load();
  }

  #showHeading(title: string, view: PageRoute['view']): void {
    setText(this.#heading, title);
    document.title = `${title} – vmdhcp`;
    this.#links.showCurrent(view);
  }

  /**
   * Loads the overview first, because it lists what this user may see. Never rejects. @param isWhole - false to keep an overview that events have
   * kept up to date.
   */
  async #load(isWhole = true): Promise<void> {
    clearTimeout(this.#reload);
    this.#reload = undefined;
    this.#loadedAtMs = performance.now();
    const view = this.#view;
    if (view === undefined) return;
    const isFresh = !isWhole && !this.#isUnready && this.#loadedAtMs - this.#overviewAtMs < OVERVIEW_MS;
    const failure = (isFresh ? undefined : await this.#loadOverview()) ?? (await this.#loadView(view));
    if (view !== this.#view) return;
    if (failure === undefined) fill(this.#problem, []);
    else this.#showFailure(failure);
  }

  async #loadOverview(): Promise<RequestFailure | undefined> {
    const turn = ++this.#asked;
    const answer = await this.#client.get<Overview>('api/overview');
    if (answer.kind !== 'data') return answer;
    // The older of two answers may arrive last.
    if (turn < this.#taken) return undefined;
    this.#taken = turn;
    this.#overview = answer.data;
    this.#view?.overviewChanged?.(answer.data);
    this.#overviewAtMs = performance.now();
    this.#aheadMs = answer.data.atMs - Date.now();
    this.#heardAtMs = answer.data.atMs;
    this.#links.showAccess(answer.data);
    return undefined;
  }

  async #loadView(view: View): Promise<RequestFailure | undefined> {
    // The user has opened another view meanwhile.
    if (view !== this.#view) return undefined;
    const access = this.#overview?.sections[view.section];
    const help = access === undefined ? undefined : describeAccess(view.section, access);
    if (help !== undefined) {
      fill(this.#body, [sectionNotice(help)]);
      return undefined;
    }
    // Pictures read colours from the style sheet, so they must be in the document.
    if (this.#body.firstElementChild !== view.element) fill(this.#body, [view.element, view.events?.element ?? null]);
    void view.events?.load();
    return view.load();
  }

  #showFailure(failure: RequestFailure): void {
    switch (failure.kind) {
      case 'sign-in':
        this.#askForToken(failure.message);
        return;
      case 'refused':
        fill(this.#body, []);
        fill(this.#problem, [
          notice(toTitle(failure.status), [element('p', {}, failure.message), this.#toOtherToken(failure.status)]),
        ]);
        return;
      case 'unreachable':
        fill(this.#problem, [
          notice('No answer from the server', [element('p', {}, `${failure.message}. The page tries again by itself.`)]),
        ]);
        this.#loadSoon();
    }
  }

  #toOtherToken(status: number): HTMLElement | null {
    return status === 403 && this.#client.token !== '' ? signInAgainButton(() => this.#askForToken('')) : null;
  }

  #askForToken(message: string): void {
    // Every request is refused, and the user may already be typing.
    if (this.#problem.querySelector('.sign-in') !== null) return;
    this.#live.stop();
    this.#followed = undefined;
    this.#connection = { kind: 'sign-in', message };
    this.#tick();
    const hadToken = this.#client.token !== '';
    this.#client.token = '';
    setText(this.#heading, 'Sign in');
    document.title = 'Sign in – vmdhcp';
    fill(this.#body, []);
    const form = signInForm(hadToken ? message : '', (token) => {
      this.#client.token = token;
      void this.#navigate(true);
    });
    fill(this.#problem, [form]);
  }

  #follow(pool: string, version: string): void {
    // An answer to a view that was left meanwhile does not change which pool is followed.
    if (pool !== (this.#view?.pool ?? '')) return;
    // The server continues after the last version that it sent; a new connection could only lose changes.
    if (pool === this.#followed) this.#live.remember({ pool, version });
    else this.#live.follow({ pool, version });
    this.#followed = pool;
  }

  #takeEvent(event: PageEvent): void {
    this.#heardAtMs = this.#context.nowMs();
    switch (event.kind) {
      case 'hello':
        this.#greet();
        return;
      case 'pools':
        this.#changePools(event.data);
        return;
      case 'pool':
        this.#view?.poolChanged?.(event.data);
        return;
      case 'changed':
        this.#changeSections(event.data.sections);
        return;
      case 'end':
    }
  }

  /** No event covers changes between the request of the data and this connection; those of a pool continue from its version. */
  #greet(): void {
    const isWhole = this.#hasGap || this.#followed === '';
    this.#hasGap = false;
    void (isWhole ? this.#load() : this.#loadOverview());
  }

  #changePools(change: PoolsChange): void {
    if (this.#overview === undefined) return;
    this.#overview = applyPoolsChange(this.#overview, change);
    this.#view?.overviewChanged?.(this.#overview);
  }

  #changeSections(sections: readonly Section[]): void {
    const view = this.#view;
    const shown: readonly Section[] = view === undefined ? [] : [view.section, ...(view.alsoShows ?? [])];
    if (sections.some((section) => shown.includes(section))) this.#loadSoon();
  }

  /** According to the overview, the server does not know everything yet. */
  get #isUnready(): boolean {
    return this.#overview !== undefined && this.#overview.unready.length > 0;
  }

  #loadSoon(): void {
    this.#reload ??= setTimeout(() => void this.#load(false), RELOAD_EVERY_MS);
  }

  #showConnection(state: ConnectionState): void {
    this.#connection = state;
    if (state.kind === 'lost') this.#hasGap = true;
    if (state.kind === 'sign-in') this.#askForToken(state.message);
    else this.#tick();
  }

  #tick(): void {
    if (document.hidden) return;
    const nowMs = this.#context.nowMs();
    this.#line.show(this.#connection, this.#heardAtMs === 0 ? 'never' : describeAge(this.#heardAtMs, nowMs));
    this.#elements.main.classList.toggle('stale', this.#connection.kind === 'lost');
    refreshTimes(this.#elements.main, nowMs);
    if (this.#connection.kind === 'live') this.#loadWhatNoEventTells();
  }

  #loadWhatNoEventTells(): void {
    void this.#view?.events?.load(EVENTS_EVERY_MS);
    const reloadMs = this.#isUnready ? 0 : (this.#view?.reloadMs ?? Number.POSITIVE_INFINITY);
    if (performance.now() - this.#loadedAtMs > reloadMs) this.#loadSoon();
  }
}

function toTitle(status: number): string {
  if (status === 403) return 'You may not see this';
  return status === 404 ? 'There is no such object' : 'The server refused the request';
}
