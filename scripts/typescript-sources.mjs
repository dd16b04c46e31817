// Node runs the TypeScript sources of tests as they are, without a transformation: this finds them.
import { registerHooks } from 'node:module';

// They import each other as `./name.js`, as they are called once they are built.
registerHooks({
  resolve: (specifier, context, next) => {
    const isSource = /\.ts(?:\?|$)/.test(context.parentURL ?? '') && /^\.{1,2}\//.test(specifier);
    return next(isSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});
