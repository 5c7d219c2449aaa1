import { setFlagsFromString } from 'node:v8';
import { mcpConfig } from '../../shared/config/mcp.ts';
import { runMain } from '../../shared/process/lifecycle.ts';
import { startMcp } from './compose.ts';

// Without this flag, V8 keeps over 100 MB of garbage from the first 3,000 requests.
setFlagsFromString('--optimize-for-size');
await runMain('mcp', mcpConfig, startMcp);
