/** Starts the page in the browser: index.html loads this module. */
import { Page } from './app/page.js';

const [main, nav, connection, changes] = ['content', 'views', 'connection', 'changes'].map((id) => document.getElementById(id));
if (!main || !nav || !connection || !changes) throw new Error('index.html lacks an element that the page fills');

// A link to `#content` would be an address of a view.
document.querySelector('.skip')?.addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
new Page({ main, nav, connection, changes }, new URL('.', document.baseURI).href).start();
