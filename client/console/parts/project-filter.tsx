import { t } from '../strings/index.ts';
import { useParameter } from './hooks.ts';

export function ProjectFilter({ projects }: { projects: readonly string[] }) {
  const [project, setProject] = useParameter('project');
  const names = [...new Set([...projects, ...(project ? [project] : [])])].toSorted();
  if (names.length === 0) return null;
  return (
    <select
      class="filter"
      aria-label={t.memory.project}
      value={project}
      onChange={(event) => setProject(event.currentTarget.value)}
    >
      <option value="">{t.memory.allProjects}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
