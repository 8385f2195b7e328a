declare module "virtual:tabler/*" {
  const body: string;
  export default body;
}
