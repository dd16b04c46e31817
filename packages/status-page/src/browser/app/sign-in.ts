import { element } from '../dom/element.js';

/** Asks for a token. @param message - the answer of the server; empty if there is none yet. */
export function signInForm(message: string, onToken: (token: string) => void): HTMLElement {
  const input = element('input', {
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    'aria-describedby': 'token-help',
  });
  const form = element('form', { class: 'sign-in' }, [
    message === '' ? null : element('p', { class: 'problem', role: 'alert' }, message),
    element('label', {}, [element('span', {}, 'Token'), input]),
    element('button', { type: 'submit' }, 'Sign in'),
    element('div', { id: 'token-help' }, [
      element('p', {}, 'The page shows what the token may read in the cluster. A token of a ServiceAccount:'),
      element('pre', { tabindex: 0 }, [element('code', {}, 'kubectl create token NAME -n NAMESPACE')]),
      element('p', { class: 'soft' }, 'This tab keeps the token until it is closed. It is sent to this server alone.'),
    ]),
  ]);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    onToken(input.value.trim());
  });
  return form;
}

/** For a user who may see nothing: another token may belong to a user with rights. */
export function signInAgainButton(onClick: () => void): HTMLElement {
  const button = element('button', { type: 'button' }, 'Sign in with another token');
  button.addEventListener('click', onClick);
  return button;
}
