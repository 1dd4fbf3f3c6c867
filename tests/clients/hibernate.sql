-- What hibernate sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: hibernate/hbm2ddl create
SET application_name = 'PostgreSQL JDBC Driver';

-- simple: hibernate/hbm2ddl create
BEGIN;

-- extended: hibernate/hbm2ddl create
select string_agg(word, ',') from pg_catalog.pg_get_keywords() where word <> ALL ('{a,abs,absolute,action,ada,add,admin,after,all,allocate,alter,always,and,any,are,array,as,asc,asensitive,assertion,assignment,asymmetric,at,atomic,attribute,attributes,authorization,avg,before,begin,bernoulli,between,bigint,binary,blob,boolean,both,breadth,by,c,call,called,cardinality,cascade,cascaded,case,cast,catalog,catalog_name,ceil,ceiling,chain,char,char_length,character,character_length,character_set_catalog,character_set_name,character_set_schema,characteristics,characters,check,checked,class_origin,clob,close,coalesce,cobol,code_units,collate,collation,collation_catalog,collation_name,collation_schema,collect,column,column_name,command_function,command_function_code,commit,committed,condition,condition_number,connect,connection_name,constraint,constraint_catalog,constraint_name,constraint_schema,constraints,constructors,contains,continue,convert,corr,corresponding,count,covar_pop,covar_samp,create,cross,cube,cume_dist,current,current_collation,current_date,current_default_transform_group,current_path,current_role,current_time,current_timestamp,current_transform_group_for_type,current_user,cursor,cursor_name,cycle,data,date,datetime_interval_code,datetime_interval_precision,day,deallocate,dec,decimal,declare,default,defaults,deferrable,deferred,defined,definer,degree,delete,dense_rank,depth,deref,derived,desc,describe,descriptor,deterministic,diagnostics,disconnect,dispatch,distinct,domain,double,drop,dynamic,dynamic_function,dynamic_function_code,each,element,else,end,end-exec,equals,escape,every,except,exception,exclude,excluding,exec,execute,exists,exp,external,extract,false,fetch,filter,final,first,float,floor,following,for,foreign,fortran,found,free,from,full,function,fusion,g,general,get,global,go,goto,grant,granted,group,grouping,having,hierarchy,hold,hour,identity,immediate,implementation,in,including,increment,indicator,initially,inner,inout,input,insensitive,insert,instance,instantiable,int,integer,intersect,intersection,interval,into,invoker,is,isolation,join,k,key,key_member,key_type,language,large,last,lateral,leading,left,length,level,like,ln,local,localtime,localtimestamp,locator,lower,m,map,match,matched,max,maxvalue,member,merge,message_length,message_octet_length,message_text,method,min,minute,minvalue,mod,modifies,module,month,more,multiset,mumps,name,names,national,natural,nchar,nclob,nesting,new,next,no,none,normalize,normalized,not,"null",nullable,nullif,nulls,number,numeric,object,octet_length,octets,of,old,on,only,open,option,options,or,order,ordering,ordinality,others,out,outer,output,over,overlaps,overlay,overriding,pad,parameter,parameter_mode,parameter_name,parameter_ordinal_position,parameter_specific_catalog,parameter_specific_name,parameter_specific_schema,partial,partition,pascal,path,percent_rank,percentile_cont,percentile_disc,placing,pli,position,power,preceding,precision,prepare,preserve,primary,prior,privileges,procedure,public,range,rank,read,reads,real,recursive,ref,references,referencing,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope,regr_sxx,regr_sxy,regr_syy,relative,release,repeatable,restart,result,return,returned_cardinality,returned_length,returned_octet_length,returned_sqlstate,returns,revoke,right,role,rollback,rollup,routine,routine_catalog,routine_name,routine_schema,row,row_count,row_number,rows,savepoint,scale,schema,schema_name,scope_catalog,scope_name,scope_schema,scroll,search,second,section,security,select,self,sensitive,sequence,serializable,server_name,session,session_user,set,sets,similar,simple,size,smallint,some,source,space,specific,specific_name,specifictype,sql,sqlexception,sqlstate,sqlwarning,sqrt,start,state,statement,static,stddev_pop,stddev_samp,structure,style,subclass_origin,submultiset,substring,sum,symmetric,system,system_user,table,table_name,tablesample,temporary,then,ties,time,timestamp,timezone_hour,timezone_minute,to,top_level_count,trailing,transaction,transaction_active,transactions_committed,transactions_rolled_back,transform,transforms,translate,translation,treat,trigger,trigger_catalog,trigger_name,trigger_schema,trim,true,type,uescape,unbounded,uncommitted,under,union,unique,unknown,unnamed,unnest,update,upper,usage,user,user_defined_type_catalog,user_defined_type_code,user_defined_type_name,user_defined_type_schema,using,value,values,var_pop,var_samp,varchar,varying,view,when,whenever,where,width_bucket,window,with,within,without,work,write,year,zone}'::text[]);

-- extended: hibernate/hbm2ddl create
select version();

-- extended: hibernate/hbm2ddl create
select current_catalog;

-- extended: hibernate/hbm2ddl create
select current_schema();

-- extended: hibernate/hbm2ddl create
COMMIT;

-- extended: hibernate/hbm2ddl create
set client_min_messages = WARNING;

-- extended: hibernate/hbm2ddl create
alter table if exists Cust_tags drop constraint if exists FKt50bm2dv0qdbet9hms3ivo0v1;

-- extended: hibernate/hbm2ddl create
alter table if exists hib_ord drop constraint if exists FK1moopcbpvycysjseas1t2efov;

-- extended: hibernate/hbm2ddl create
drop table if exists Cust_tags cascade;

-- extended: hibernate/hbm2ddl create
drop table if exists hib_cust cascade;

-- extended: hibernate/hbm2ddl create
drop table if exists hib_ord cascade;

-- extended: hibernate/hbm2ddl create
drop sequence if exists hib_cust_SEQ;

-- extended: hibernate/hbm2ddl create
create sequence hib_cust_SEQ start with 1 increment by 50;

-- extended: hibernate/hbm2ddl create
create table Cust_tags (Cust_id bigint not null, tags varchar(255));

-- extended: hibernate/hbm2ddl create
create table hib_cust (act boolean not null, bal numeric(38,2), dur numeric(21,0), ver integer not null, at timestamp(6), id bigint not null, tz timestamp(6) with time zone, tok uuid, name varchar(100) not null, lvl varchar(255) check (lvl in ('LOW','HIGH')), mail varchar(255), arr varchar(255) array, bin bytea, blob oid, js jsonb, primary key (id), constraint hib_cust_mail_uq unique (mail));

-- extended: hibernate/hbm2ddl create
create table hib_ord (qty integer not null, cust_id bigint not null, id bigint generated by default as identity, primary key (id));

-- extended: hibernate/hbm2ddl create
create index hib_cust_name on hib_cust (name);

-- extended: hibernate/hbm2ddl create
alter table if exists Cust_tags add constraint FKt50bm2dv0qdbet9hms3ivo0v1 foreign key (Cust_id) references hib_cust;

-- extended: hibernate/hbm2ddl create
alter table if exists hib_ord add constraint FK1moopcbpvycysjseas1t2efov foreign key (cust_id) references hib_cust;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
alter table hib_cust drop column mail;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
select * from information_schema.sequences;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT current_database() AS "TABLE_CAT", n.nspname AS "TABLE_SCHEM", c.relname AS "TABLE_NAME",  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS "TABLE_TYPE", d.description AS "REMARKS",  '' as "TYPE_CAT", '' as "TYPE_SCHEM", '' as "TYPE_NAME", '' AS "SELF_REFERENCING_COL_NAME", '' AS "REF_GENERATION"  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'public' AND c.relname LIKE '%' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'm' )  OR ( c.relkind = 'p' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ) )  ORDER BY "TABLE_TYPE","TABLE_SCHEM","TABLE_NAME";

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT * FROM (SELECT current_database() AS current_database, n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull  OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype  FROM pg_catalog.pg_namespace n  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)  JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class')  LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND dn.nspname='pg_catalog')  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped  AND n.nspname LIKE 'public') c WHERE true  AND attname LIKE '%' ORDER BY nspname,c.relname,attnum;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE pg_type.oid = $1  ORDER BY sp.r, pg_type.oid DESC;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
alter table if exists hib_cust add column mail varchar(255);

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT     tmp.TABLE_CAT AS "TABLE_CAT",     tmp.TABLE_SCHEM AS "TABLE_SCHEM",     tmp.TABLE_NAME AS "TABLE_NAME",     tmp.NON_UNIQUE AS "NON_UNIQUE",     tmp.INDEX_QUALIFIER AS "INDEX_QUALIFIER",     tmp.INDEX_NAME AS "INDEX_NAME",     tmp.TYPE AS "TYPE",     tmp.ORDINAL_POSITION AS "ORDINAL_POSITION",     trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION, false)) AS "COLUMN_NAME",   CASE tmp.AM_NAME     WHEN 'btree' THEN CASE tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint       WHEN 1 THEN 'D'       ELSE 'A'     END     ELSE NULL   END AS "ASC_OR_DESC",     tmp.CARDINALITY AS "CARDINALITY",     tmp.PAGES AS "PAGES",     tmp.FILTER_CONDITION AS "FILTER_CONDITION",     tmp.REMARKS AS "REMARKS"FROM (SELECT current_database() AS TABLE_CAT,  n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, NOT i.indisunique AS NON_UNIQUE,   NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME,   CASE i.indisclustered     WHEN true THEN 1    ELSE CASE am.amname       WHEN 'hash' THEN 2      ELSE 3    END   END AS TYPE,   (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION,   ci.reltuples AS CARDINALITY,   ci.relpages AS PAGES,   pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION,   ci.oid AS CI_OID,   i.indoption AS I_INDOPTION,   am.amname AS AM_NAME,   d.description AS REMARKS FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)   JOIN pg_catalog.pg_am am ON (ci.relam = am.oid)   LEFT JOIN pg_catalog.pg_description d ON (ci.oid = d.objoid) WHERE true  AND n.nspname = 'public' AND ct.relname = 'hib_cust') AS tmp ORDER BY "NON_UNIQUE", "TYPE", "INDEX_NAME", "ORDINAL_POSITION";

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
alter table if exists hib_cust drop constraint if exists hib_cust_mail_uq;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
alter table if exists hib_cust add constraint hib_cust_mail_uq unique (mail);

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys';

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT current_database() AS "PKTABLE_CAT", pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS "PKTABLE_NAME", pka.attname AS "PKCOLUMN_NAME", current_database() AS "FKTABLE_CAT", fkn.nspname AS "FKTABLE_SCHEM", fkc.relname AS "FKTABLE_NAME", fka.attname AS "FKCOLUMN_NAME", pos.n AS "KEY_SEQ", CASE con.confupdtype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "UPDATE_RULE", CASE con.confdeltype  WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'p' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS "DELETE_RULE", con.conname AS "FK_NAME", pkic.relname AS "PK_NAME", CASE  WHEN con.condeferrable AND con.condeferred THEN 5 WHEN con.condeferrable THEN 6 ELSE 7 END AS "DEFERRABILITY"  FROM  pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka,  pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka,  pg_catalog.pg_constraint con,  pg_catalog.generate_series(1, 32) pos(n),  pg_catalog.pg_class pkic WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid  AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n] AND con.conrelid = fkc.oid  AND con.contype = 'f' AND (pkic.relkind = 'i' OR pkic.relkind = 'I') AND pkic.oid = con.conindid  AND current_database() = 'postgres' AND fkn.nspname = 'public' AND fkc.relname = 'cust_tags' ORDER BY pkn.nspname,pkc.relname, con.conname,pos.n;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
select * from "public"."hib_cust" where 1=0;

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid = a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 30313 AS oid , 1 AS attnum UNION ALL SELECT 30313, 2 UNION ALL SELECT 30313, 3 UNION ALL SELECT 30313, 4 UNION ALL SELECT 30313, 5 UNION ALL SELECT 30313, 6 UNION ALL SELECT 30313, 7 UNION ALL SELECT 30313, 8 UNION ALL SELECT 30313, 9 UNION ALL SELECT 30313, 10 UNION ALL SELECT 30313, 12 UNION ALL SELECT 30313, 13 UNION ALL SELECT 30313, 14 UNION ALL SELECT 30313, 15 UNION ALL SELECT 30313, 16) vals ON (c.oid = vals.oid AND a.attnum = vals.attnum) where c.oid in (30313);

-- extended: hibernate/hbm2ddl update adds a dropped column and changes nothing else
select count(*) from information_schema.columns where table_name='hib_cust' and column_name='mail';

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select nextval('hib_cust_SEQ');

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
SELECT p.proname,p.oid  FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n  WHERE p.pronamespace=n.oid AND n.nspname='pg_catalog' AND ( proname = 'lo_open' or proname = 'lo_close' or proname = 'lo_creat' or proname = 'lo_unlink' or proname = 'lo_lseek' or proname = 'lo_lseek64' or proname = 'lo_tell' or proname = 'lo_tell64' or proname = 'loread' or proname = 'lowrite' or proname = 'lo_truncate' or proname = 'lo_truncate64');

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
SELECT pg_type.oid, typname   FROM pg_catalog.pg_type   LEFT   JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE typname = $1  ORDER BY sp.r, pg_type.oid DESC LIMIT 1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
insert into hib_cust (act,arr,at,bal,bin,blob,dur,js,lvl,mail,name,tok,tz,ver,id) values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15);

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
insert into hib_ord (cust_id,qty) values ($1,$2)
RETURNING *;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
insert into Cust_tags (Cust_id,tags) values ($1,$2);

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select c1_0.id,c1_0.act,c1_0.arr,c1_0.at,c1_0.bal,c1_0.bin,c1_0.blob,c1_0.dur,c1_0.js,c1_0.lvl,c1_0.mail,c1_0.name,o1_0.cust_id,o1_0.id,o1_0.qty,c1_0.tok,c1_0.tz,c1_0.ver from hib_cust c1_0 left join hib_ord o1_0 on c1_0.id=o1_0.cust_id where c1_0.name=$1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select t1_0.Cust_id,t1_0.tags from Cust_tags t1_0 where t1_0.Cust_id=$1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
update hib_cust set act=$1,arr=$2,at=$3,bal=$4,bin=$5,blob=$6,dur=$7,js=$8,lvl=$9,mail=$10,name=$11,tok=$12,tz=$13,ver=$14 where id=$15 and ver=$16;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select sum(c1_0.bal) from hib_cust c1_0;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select c1_0.lvl,count(*) from hib_cust c1_0 where extract(year from c1_0.at)=2020 and lower(c1_0.name) like 'n%' escape '' group by c1_0.lvl having count(*)>1 order by 1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select c1_0.id,c1_0.act,c1_0.arr,c1_0.at,c1_0.bal,c1_0.bin,c1_0.blob,c1_0.dur,c1_0.js,c1_0.lvl,c1_0.mail,c1_0.name,c1_0.tok,c1_0.tz,c1_0.ver from hib_cust c1_0 order by c1_0.id offset $1 rows fetch first $2 rows only;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select c1_0.id,c1_0.act,c1_0.arr,c1_0.at,c1_0.bal,c1_0.bin,c1_0.blob,c1_0.dur,c1_0.js,c1_0.lvl,c1_0.mail,c1_0.name,c1_0.tok,c1_0.tz,c1_0.ver from hib_cust c1_0 where c1_0.name='n7' for no key update;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
select o1_0.cust_id,o1_0.id,o1_0.qty from hib_ord o1_0 where o1_0.cust_id=$1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
delete from Cust_tags where Cust_id=$1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
delete from hib_ord where id=$1;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
delete from hib_cust where id=$1 and ver=$2;

-- extended: hibernate/persist, find, JPQL, batch insert of 60, update, delete, every attribute type
update hib_cust c1_0 set act=true where c1_0.bal>2;

-- extended: hibernate/optimistic lock conflict, constraint violation mapped
ROLLBACK;

-- extended: hibernate/optimistic lock conflict, constraint violation mapped
select c1_0.id,c1_0.act,c1_0.arr,c1_0.at,c1_0.bal,c1_0.bin,c1_0.blob,c1_0.dur,c1_0.js,c1_0.lvl,c1_0.mail,c1_0.name,c1_0.tok,c1_0.tz,c1_0.ver from hib_cust c1_0;
