/** Resource of a project, so that other projects' resources cannot be found. */
export interface ProjectResource {
  projectId: string;
  id: string;
}
