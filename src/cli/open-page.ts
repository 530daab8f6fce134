import process from 'node:process';
import type { Logger } from '../kernel/logger.ts';
import type { Environment } from '../platform/bundle/environment.ts';

/** Shows the page in the person's browser, where there is one. Nothing hangs on it: the address was printed. */
export async function openPage(url: string, environment: Environment, logger: Logger): Promise<void> {
  const hasScreen = ['DISPLAY', 'WAYLAND_DISPLAY'].some((name) => (environment[name] ?? '') !== '');
  if (process.platform === 'linux' && !hasScreen) return;
  try {
    const { default: open } = await import('open');
    const child = await open(url);
    child.on('error', (error) => {
      logger.debug('no browser could be opened', { error });
    });
  } catch (error) {
    logger.debug('no browser could be opened', { error });
  }
}
