import { setFlagsFromString } from 'node:v8';
import { mcpConfig } from '../../shared/config/mcp.ts';
import { runMain } from '../../shared/process/lifecycle.ts';
import { startMcp } from './compose.ts';

// V8 would keep over 100 MB of garbage of 1,000 sessions' first requests while nothing else asks for the memory.
setFlagsFromString('--optimize-for-size');
await runMain('mcp', mcpConfig, startMcp);
