import { mcpConfig } from '../../shared/config/mcp.ts';
import { runMain } from '../../shared/process/lifecycle.ts';
import { startMcp } from './compose.ts';

await runMain('mcp', mcpConfig, startMcp);
