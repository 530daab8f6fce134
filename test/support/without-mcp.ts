// A process in which the packages for MCP are not installed, for whatever is imported after this. Also with `node --import`.
import { registerHooks } from 'node:module';

/** Where nothing is installed: what Node says of a package there is what it says of one that is missing. */
const NOWHERE = 'file:///nowhere/module.js';

registerHooks({
  resolve: (specifier, context, next) =>
    /^@modelcontextprotocol\/(client|server)$/.test(specifier)
      ? next(specifier, { ...context, parentURL: NOWHERE })
      : next(specifier, context),
});
