import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { stdioConfig } from '../../shared/config/mcp.ts';
import { messageOf } from '../../shared/errors/message-of.ts';
import { createLog } from '../../shared/log.ts';
import { print } from '../../shared/text/visible.ts';
import { createToolServer } from './tool-server.ts';
import { accountClientAt } from './upstream.ts';

/** Serves one client over standard input and output, which carry only the protocol: the log goes to standard error. */
try {
  const { url, key } = stdioConfig(process.env);
  const log = createLog('mcp', 'warn', process.stderr);
  const account = accountClientAt(url, { credential: key });
  serveStdio(() => createToolServer({ accountOf: () => account, publicUrl: url, log }));
} catch (error) {
  print(`${messageOf(error)}\n`, process.stderr);
  process.exitCode = 1;
}
