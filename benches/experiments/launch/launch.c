// What a launch takes of the processor, by how many buffers a kernel is given. Throw-away: figures in docs/benchmarks.md,
// "csr_flat on the H200". cc -O2 launch.c -lOpenCL -o launch; taskset -c N ./launch, N from 1 to 14. Of each form: median and least of seven
// times 400 launches, us each, and the least of 20 enqueued on an empty queue (e).
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec*1e6+t.tv_nsec*1e-3;}
static double cpu(void){struct timespec t;clock_gettime(CLOCK_THREAD_CPUTIME_ID,&t);return t.tv_sec*1e6+t.tv_nsec*1e-3;}
#define C(e) do{cl_int r=(e);if(r){fprintf(stderr,"%d line %d\n",r,__LINE__);exit(1);}}while(0)
const char*src=
"kernel void k0(uint n){}\n"
"kernel void k1(uint n,global float*a){if(n==77)a[0]=1;}\n"
"kernel void k2(uint n,global float*a,global float*b){if(n==77)a[0]=b[0];}\n"
"kernel void k6(uint n,global float*a,global float*b,global float*c,global float*d,global float*e,global float*f){if(n==77)a[0]=b[0]+c[0]+d[0]+e[0]+f[0];}\n"
"kernel void r6(uint n,global const float*a,global const float*b,global const float*c,global const float*d,global float*e,global float*f){if(n==77)e[0]=b[0]+c[0]+d[0]+a[0]+f[0];}\n"
"kernel void w6(uint n,global float*a,global float*b,global float*c,global float*d,global float*e,global float*f){a[get_global_id(0)]=b[0]+c[0]+d[0]+e[0]+f[0];}\n";
static cl_context ctx; static cl_device_id dev; static cl_program p;
static cl_command_queue Q(cl_command_queue_properties pr){cl_int e;cl_command_queue q=clCreateCommandQueue(ctx,dev,pr,&e);C(e);return q;}
static cl_kernel K(const char*n){cl_int e;cl_kernel k=clCreateKernel(p,n,&e);C(e);return k;}
static void run(const char*label,cl_command_queue q,cl_kernel k,size_t groups,int setn,int flush){
  size_t l=256,g=groups*256; cl_uint n=1; double best=1e9,med[7],enq=1e9; double cp=0;
  for(int s=0;s<7;s++){
    C(clFinish(q));
    double t0=now(); for(int i=0;i<20;i++){ if(setn) C(clSetKernelArg(k,0,4,&n)); C(clEnqueueNDRangeKernel(q,k,1,0,&g,&l,0,0,0)); if(flush==1) clFlush(q);} double t1=now(); C(clFinish(q));
    if((t1-t0)/20<enq) enq=(t1-t0)/20;
    double c0=cpu(); t0=now(); for(int i=0;i<400;i++){ if(setn) C(clSetKernelArg(k,0,4,&n)); C(clEnqueueNDRangeKernel(q,k,1,0,&g,&l,0,0,0)); if(flush&&i%flush==0) clFlush(q);} double te=now(); double c1=cpu(); C(clFinish(q)); t1=now();
    med[s]=(t1-t0)/400; if(med[s]<best) best=med[s]; cp=(te-t0)/400;
  }
  for(int i=0;i<7;i++)for(int j=i+1;j<7;j++)if(med[j]<med[i]){double t=med[i];med[i]=med[j];med[j]=t;}
  printf(" %s=%.2f/%.2f/e%.2f",label,med[3],best,enq);
}
int main(){
  cl_platform_id pf[4];cl_uint np;C(clGetPlatformIDs(4,pf,&np));
  C(clGetDeviceIDs(pf[0],CL_DEVICE_TYPE_GPU,1,&dev,0));cl_int e;
  ctx=clCreateContext(0,1,&dev,0,0,&e);C(e);
  p=clCreateProgramWithSource(ctx,1,&src,0,&e);C(e);C(clBuildProgram(p,1,&dev,"",0,0));
  cl_command_queue q=Q(0),q2=Q(0),qo=Q(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_mem b[6];for(int i=0;i<6;i++){b[i]=clCreateBuffer(ctx,CL_MEM_READ_WRITE,4<<20,0,&e);C(e);}
  cl_mem big=clCreateBuffer(ctx,CL_MEM_READ_WRITE,24<<20,0,&e);C(e); cl_mem sb[6];
  for(int i=0;i<6;i++){cl_buffer_region r={(size_t)i<<22,1<<22};sb[i]=clCreateSubBuffer(big,CL_MEM_READ_WRITE,CL_BUFFER_CREATE_TYPE_REGION,&r,&e);C(e);}
  void*sv[6];for(int i=0;i<6;i++){sv[i]=clSVMAlloc(ctx,CL_MEM_READ_WRITE,4<<20,0);if(!sv[i]){fprintf(stderr,"svm\n");}}
  cl_uint n=1;
  cl_kernel k0=K("k0"),k1=K("k1"),k2=K("k2"),k6=K("k6"),r6=K("r6"),s6=K("k6"),same6=K("k6"),svm6=K("k6"),w6=K("w6");
  cl_kernel ks[]={k0,k1,k2,k6,r6,s6,same6,svm6,w6};int na[]={0,1,2,6,6,6,6,6,6};
  for(int i=0;i<9;i++){C(clSetKernelArg(ks[i],0,4,&n));for(int a=0;a<na[i];a++){
    if(ks[i]==s6)C(clSetKernelArg(s6,a+1,sizeof(cl_mem),&sb[a]));
    else if(ks[i]==same6)C(clSetKernelArg(same6,a+1,sizeof(cl_mem),&b[0]));
    else if(ks[i]==svm6)C(clSetKernelArgSVMPointer(svm6,a+1,sv[a]));
    else C(clSetKernelArg(ks[i],a+1,sizeof(cl_mem),&b[a]));}}
  run("warm",q,k0,1,0,0);
  run("k0",q,k0,1,0,0); run("k1",q,k1,1,0,0); run("k2",q,k2,1,0,0); run("k6",q,k6,1,0,0); run("k6set",q,k6,1,1,0);run("k6g300",q,k6,300,1,0);
  run("r6",q,r6,1,0,0); run("sub6",q,s6,1,0,0); run("same6",q,same6,1,0,0); run("svm6",q,svm6,1,0,0); run("w6g132",q,w6,132,0,0);
  run("k6fl1",q,k6,1,0,1); run("k6fl8",q,k6,1,0,8); run("k6q2",q2,k6,1,0,0); run("k6ooo",qo,k6,1,0,0); run("k6again",q,k6,1,0,0);run("k0again",q,k0,1,0,0);
  printf("\n");return 0;}
