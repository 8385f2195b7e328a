declare module "tabler:*" {
  const body: string;
  export default body;
}
